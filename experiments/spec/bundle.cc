#include "ringside/experiments/spec/bundle.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/regular_file.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/text/json_depth.h"
#include "ringside/experiments/text/lines.h"
#include "ringside/experiments/text/units.h"

namespace ringside {

namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kNewestSchema = 1;
// Of a rank's metrics, in memory at a time.
constexpr std::size_t kMetricsPieceBytes = std::size_t{64} << 10;
constexpr std::string_view kSchemaPrefix = "ringside.summary/";

// The number in a schema such as "ringside.summary/1". Absent if the schema is not Ringside's.
std::optional<std::int64_t> SchemaVersion(const nlohmann::json& summary) {
  if (!summary.is_object()) return std::nullopt;
  const auto schema = summary.find("schema");
  if (schema == summary.end() || !schema->is_string()) return std::nullopt;
  const auto text = schema->get<std::string>();
  if (!text.starts_with(kSchemaPrefix)) return std::nullopt;
  try {
    return ParseInteger(std::string_view(text).substr(kSchemaPrefix.size()));
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

void RefuseNewer(const fs::path& directory, std::int64_t version) {
  if (version <= kNewestSchema) return;
  throw Error(fmt::format(
      "{}: is the bundle of a newer Ringside ({}{}, this build knows {}); it is left as it is: "
      "update Ringside",
      directory.string(), kSchemaPrefix, version, kNewestSchema));
}

}  // namespace

nlohmann::json ReadJsonFile(const fs::path& path) {
  const std::string text = ReadFile(path.string(), kMaxJsonFileBytes);
  if (IsTooDeepJson(text)) {
    throw DataError(path.string(),
                    fmt::format("more than {} objects and lists within each other", kMaxJsonDepth));
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(path.string(), static_cast<std::int64_t>(error.byte), "no valid JSON");
  } catch (const nlohmann::json::out_of_range&) {
    throw DataError(path.string(), "a number is too large");
  }
}

void ForEachMetricsLine(const fs::path& path, const std::function<void(std::string_view)>& take) {
  std::error_code ignored;  // opening says more
  if (!fs::exists(path, ignored)) return;
  const RegularFile file(path.string());
  std::vector<std::byte> piece(kMetricsPieceBytes);
  std::string text;  // begins with a line that has not been taken
  for (std::uint64_t offset = 0, count = piece.size(); count == piece.size(); offset += count) {
    count = file.ReadAt(offset, piece);
    text.append(reinterpret_cast<const char*>(piece.data()), count);
    const std::size_t whole = text.rfind('\n') + 1;  // 0 if there is no newline
    ForEachLine(std::string_view(text).substr(0, whole), take);
    text.erase(0, whole);
    if (text.size() > kMaxMetricsLineBytes) {
      throw DataError(path.string(), static_cast<std::int64_t>(offset + count),
                      fmt::format("a line is longer than {} bytes", kMaxMetricsLineBytes));
    }
  }
  ForEachLine(text, take);
}

nlohmann::json ReadSummary(const fs::path& directory) {
  nlohmann::json summary = ReadJsonFile(directory / kSummaryFile);
  const auto version = SchemaVersion(summary);
  if (!version) {
    throw DataError((directory / kSummaryFile).string(), 0,
                    fmt::format("a summary of Ringside expected, schema '{}N'", kSchemaPrefix));
  }
  RefuseNewer(directory, *version);
  return summary;
}

void RefuseNewerBundle(const fs::path& directory) {
  if (!fs::exists(directory / kSummaryFile)) return;
  std::optional<std::int64_t> version;
  try {
    version = SchemaVersion(ReadJsonFile(directory / kSummaryFile));
  } catch (const DataError&) {
    return;  // damaged, so it has no version
  }
  if (version) RefuseNewer(directory, *version);
}

void RemoveBundle(const fs::path& directory) {
  if (!fs::exists(directory)) return;
  RemoveFile((directory / kSummaryFile).string());
  RemoveTree(directory.string());
}

BundleSource ReadBundleSource(const fs::path& path, const Catalog& catalog) {
  const bool whole = fs::is_directory(path);
  const fs::path directory = whole ? path : path.parent_path();
  const fs::path file = whole ? path / kSpecFile : path;
  if (whole && !fs::exists(file)) {
    throw Error(fmt::format("{}: is not a bundle: it has no {}", path.string(), kSpecFile));
  }
  const nlohmann::json spec = ReadJsonFile(file);
  RunSpec run(catalog);
  try {
    from_json(spec, run);
  } catch (const ConfigError& error) {
    throw Error(
        fmt::format("{}: {}; is the bundle of a newer Ringside?", file.string(), error.what()));
  }
  // A spec file outside a bundle has no summary beside it.
  const fs::path summary = directory / kSummaryFile;
  if (!fs::exists(summary) || file.filename() != kSpecFile) return {file, RunId(run)};
  const nlohmann::json id = ReadSummary(directory).value("run_id", nlohmann::json());
  if (!id.is_string()) throw DataError(summary.string(), 0, "'run_id' expected, it is missing");
  return {file, id.get<std::string>()};
}

std::optional<std::string> BundleStatus(const fs::path& directory) {
  const fs::path path = directory / kSummaryFile;
  if (!fs::exists(path)) return std::nullopt;
  try {
    return ReadJsonFile(path).at("status").get<std::string>();
  } catch (const std::exception&) {
    return "corrupt";
  }
}

bool IsFinished(const std::optional<std::string>& status) {
  return status && *status != "interrupted" && *status != "corrupt";
}

std::string_view LimitOf(const nlohmann::json& summary) {
  const nlohmann::json::json_pointer status("/status");
  const nlohmann::json::json_pointer verdict("/fidelity/verdict");
  if (!summary.contains(status) || summary.at(status) != "done" || !summary.contains(verdict)) {
    return "";
  }
  if (summary.at(verdict) == "ok") return "";
  return summary.at(verdict) == "limited" ? "limited by the machine" : "fidelity not judged";
}

std::string StatusText(const std::string& status, const std::string& error) {
  if (error.empty()) return status;
  return error.starts_with(status) ? error : status + ": " + error;
}

}  // namespace ringside
