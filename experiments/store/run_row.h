#ifndef RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_
#define RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One column of the index: a figure of summary.json under a name of its own.
struct RunColumn {
  enum class Type { kText, kInteger, kReal };
  std::string_view name;
  Type type;
  /// JSON pointer into the summary. An object or a list there is kept as its JSON text.
  std::string_view pointer;
};

/// All of them, in the order of `RunRow::values`. Docs: docs/run-bundle.md.
std::span<const RunColumn> RunColumns();

/// What the index holds of one bundle. A value.
struct RunRow {
  std::string path;                    ///< Of the bundle, from the directory that is indexed.
  std::string spec;                    ///< spec.json as one line.
  std::vector<nlohmann::json> values;  ///< By `RunColumns`; null where the run did not come to it.

  /// The value of a column. Throws `InternalError` on a name that is none.
  const nlohmann::json& Value(std::string_view column) const;
};

/// Reads one finished bundle, `directory`/`path`. Throws `DataError` where a file is damaged or a
/// figure is of the wrong type, `Error` where the bundle is of a newer version.
RunRow ReadRunRow(const std::filesystem::path& directory, const std::string& path);

/// A bundle that is in no row, and why.
struct UnindexedBundle {
  std::string path;
  std::string cause;
  bool damaged = true;  ///< False: merely unfinished.
};

struct BundleScan {
  std::vector<RunRow> rows;  ///< By path.
  std::vector<UnindexedBundle> problems;
};

/// Reads every bundle that lies in `directory`. What cannot be read is a problem, and the others
/// are read all the same. Throws `Error` when the directory itself cannot be read.
BundleScan ScanBundles(const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_
