#ifndef RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_
#define RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One column of the index: a name, and a figure of summary.json.
struct RunColumn {
  enum class Type { kText, kInteger, kReal };
  std::string_view name;
  Type type;
  /// JSON pointer into the summary. An object or a list is stored as its JSON text.
  std::string_view pointer;
};

/// All columns, in the order of `RunRow::values`; docs/run-bundle.md explains them.
std::span<const RunColumn> RunColumns();

/// One bundle's row in the index. A value.
struct RunRow {
  std::string path;                    ///< Of the bundle, relative to the indexed directory.
  std::string spec;                    ///< spec.json as one line.
  std::vector<nlohmann::json> values;  ///< By `RunColumns`; null where the run has none.

  /// The value of a column. Throws `InternalError` on an unknown name.
  const nlohmann::json& Value(std::string_view column) const;
};

/// Reads one finished bundle, `directory`/`path`. Throws `DataError` when a file is damaged or a
/// figure has the wrong type, and `Error` when the bundle has a newer version.
RunRow ReadRunRow(const std::filesystem::path& directory, const std::string& path);

/// A bundle without a row, and the reason.
struct UnindexedBundle {
  std::string path;
  std::string cause;
  bool damaged = true;  ///< False: only unfinished.
};

struct BundleScan {
  std::vector<RunRow> rows;  ///< By path.
  std::vector<UnindexedBundle> problems;
};

/// Reads every bundle in `directory`. A bundle that cannot be read becomes a problem and does not
/// stop the scan. Throws `Error` when the directory itself cannot be read.
BundleScan ScanBundles(const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STORE_RUN_ROW_H_
