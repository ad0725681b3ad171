#ifndef RINGSIDE_EXPERIMENTS_SPEC_BUNDLE_H_
#define RINGSIDE_EXPERIMENTS_SPEC_BUNDLE_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace ringside {

class Catalog;

/// A bundle is the directory of one run. It is finished when it contains summary.json. A rename
/// puts that file there, so it is complete or absent.
inline constexpr char kSummaryFile[] = "summary.json";
inline constexpr char kSpecFile[] = "spec.json";

/// The `status` of the summary: "done", "failed", "diverged", "interrupted" or "timed out". It is
/// "corrupt" if the summary cannot be read. Absent if there is no summary.
std::optional<std::string> BundleStatus(const std::filesystem::path& directory);

/// Whether the run ended by itself, with success or without. Resuming skips such a run.
bool IsFinished(const std::optional<std::string>& status);

/// A text such as "failed: worker 1 was killed". An error that starts with the status is the text.
std::string StatusText(const std::string& status, const std::string& error);

/// Why a finished run takes no part in verdicts, by the fidelity in its summary: "limited by the
/// machine" or "fidelity not judged". Empty if it takes part.
std::string_view LimitOf(const nlohmann::json& summary);

/// The summary of a finished bundle. Throws `DataError` where it is damaged. Throws
/// `Error` where its schema is newer than this build's: the same keys may have other meanings.
nlohmann::json ReadSummary(const std::filesystem::path& directory);

/// Throws `Error` when `directory` is the bundle of a newer Ringside. Changes nothing there.
void RefuseNewerBundle(const std::filesystem::path& directory);

/// Removes a bundle, summary.json first. If this stops half-way, the rest counts as an unfinished
/// bundle. Root follows no symbolic link of another user. Throws `DataError`.
void RemoveBundle(const std::filesystem::path& directory);

/// A bundle that is to be run again.
struct BundleSource {
  std::filesystem::path spec_file;
  std::string run_id;  ///< Id of the run in that bundle.
};

/// Reads a bundle; `path` is its directory or its spec.json. Throws `DataError` where a file is
/// damaged, `Error` where there is no bundle or it has a newer version.
BundleSource ReadBundleSource(const std::filesystem::path& path, const Catalog& catalog);

/// The longest JSON file of a bundle, and the longest line of a rank's metrics, that are read.
inline constexpr std::size_t kMaxJsonFileBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxMetricsLineBytes = std::size_t{1} << 20;

/// Parses a JSON file of at most `kMaxJsonFileBytes`. Throws `DataError` with the path and the
/// offset of the damage.
nlohmann::json ReadJsonFile(const std::filesystem::path& path);

/// Calls `take` for each line of a rank's metrics, without its newline; for none where there is no
/// such file. Holds a part of the file at a time, so a long run can be read. Throws `DataError`,
/// also for a line that is longer than `kMaxMetricsLineBytes`, though one that is up to 64 KiB
/// longer may pass.
void ForEachMetricsLine(const std::filesystem::path& path,
                        const std::function<void(std::string_view)>& take);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_BUNDLE_H_
