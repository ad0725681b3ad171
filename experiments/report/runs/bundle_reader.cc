#include "ringside/experiments/report/runs/bundle_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNewestSchema = 1;
constexpr std::string_view kSchemaPrefix = "ringside.summary/";
constexpr char kEnvironmentFile[] = "environment.json";
constexpr char kNetworkFile[] = "network.json";
constexpr char kMetricsFile[] = "metrics.jsonl";

// "ringside.summary/1". A newer version may use the same keys with other meanings.
void CheckSchema(const nlohmann::json& summary) {
  const auto schema = summary.at("schema").get<std::string>();
  if (!schema.starts_with(kSchemaPrefix)) {
    throw Error(fmt::format("schema '{}' is not one of Ringside's summaries", schema));
  }
  const std::int64_t version = ParseInteger(schema.substr(kSchemaPrefix.size()));
  if (version > kNewestSchema) {
    throw Error(fmt::format("schema '{}' is newer than this build, which knows {}{}; update it",
                            schema, kSchemaPrefix, kNewestSchema));
  }
}

bool IsBundle(const fs::path& directory) {
  return fs::exists(directory / kSpecFile) || fs::exists(directory / kSummaryFile);
}

// Returns null for a missing or unreadable file, which the figures do not need.
nlohmann::json ReadSideFile(const fs::path& path) {
  try {
    nlohmann::json value = ReadJsonFile(path);
    if (value.is_object()) return value;
  } catch (const DataError&) {  // NOLINT(bugprone-empty-catch)
  }
  return nullptr;
}

void ReadBundle(const fs::path& directory, const Catalog& catalog, StudyInput& study) {
  if (!fs::exists(directory / kSummaryFile)) {
    study.problems.push_back({directory.string(), "unfinished: it has no summary.json", false});
    return;
  }
  try {
    RunResult result{directory.string(), {}, ReadJsonFile(directory / kSummaryFile)};
    CheckSchema(result.summary);
    result.spec = ReadRunSpec(ReadJsonFile(directory / kSpecFile), catalog);
    if (!result.summary.at("status").is_string()) throw Error("summary.json has no status");
    result.environment = ReadSideFile(directory / kEnvironmentFile);
    result.network = ReadSideFile(directory / kNetworkFile);
    result.metrics = ReadRunMetrics(directory / kMetricsFile);
    study.runs.push_back(std::move(result));
  } catch (const Error& error) {
    study.problems.push_back({directory.string(), error.what()});
  } catch (const nlohmann::json::exception& error) {
    study.problems.push_back(
        {directory.string(), std::string("summary.json or spec.json is damaged: ") + error.what()});
  }
}

}  // namespace

StudyInput ReadStudy(const fs::path& directory, const Catalog& catalog) {
  if (!fs::is_directory(directory)) {
    throw Error(fmt::format("{}: there is no such directory", directory.string()));
  }
  StudyInput study;
  const fs::path absolute = fs::absolute(directory).lexically_normal();
  study.name = (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
  std::vector<fs::path> bundles;
  if (IsBundle(directory)) bundles.push_back(directory);
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory() && IsBundle(entry.path())) bundles.push_back(entry.path());
  }
  std::ranges::sort(bundles);
  for (const fs::path& bundle : bundles) ReadBundle(bundle, catalog, study);
  if (bundles.empty()) {
    throw Error(fmt::format("{}: holds no results (no directory in it has a summary.json)",
                            directory.string()));
  }
  return study;
}

}  // namespace ringside
