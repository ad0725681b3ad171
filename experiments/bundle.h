#ifndef RINGSIDE_EXPERIMENTS_BUNDLE_H_
#define RINGSIDE_EXPERIMENTS_BUNDLE_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace ringside {

/// A bundle is the directory of one run. It is finished when it holds summary.json, which appears
/// by rename and hence whole or not at all.
inline constexpr char kSummaryFile[] = "summary.json";
inline constexpr char kSpecFile[] = "spec.json";

/// The `status` of the summary ("done", "failed", "diverged", "interrupted", "timed out"), nothing
/// where no run finished, "corrupt" where the summary cannot be read.
std::optional<std::string> BundleStatus(const std::filesystem::path& directory);

/// Whether a run came to an end of its own there, good or bad: what resuming skips.
bool IsFinished(const std::optional<std::string>& status);

/// "failed: worker 1 was killed"; an error that names the status itself is not led by it again.
std::string StatusText(const std::string& status, const std::string& error);

/// The summary of a finished bundle. Throws `DataError` where it is damaged, `Error` where its
/// schema is newer than this build's: the same keys may mean something else there.
nlohmann::json ReadSummary(const std::filesystem::path& directory);

/// Throws `Error` when `directory` is the bundle of a newer Ringside, which is left as it is.
void RefuseNewerBundle(const std::filesystem::path& directory);

/// Takes a bundle away, summary.json first: whatever stops this half-way, what is left is
/// unfinished.
void RemoveBundle(const std::filesystem::path& directory);

/// A bundle that is to be run again.
struct BundleSource {
  std::filesystem::path spec_file;
  std::string run_id;  ///< Of the run that it holds.
};

/// `path` is a bundle's directory or its spec.json. Throws `DataError` where a file is damaged,
/// `Error` where it is no bundle or one of a newer version.
BundleSource ReadBundleSource(const std::filesystem::path& path);

/// Parses a JSON file. Throws `DataError` with the path and the offset of the damage.
nlohmann::json ReadJsonFile(const std::filesystem::path& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_BUNDLE_H_
