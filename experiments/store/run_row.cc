#include "ringside/experiments/store/run_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Type = RunColumn::Type;

constexpr std::array kColumns{
    RunColumn{"run_id", Type::kText, "/run_id"},
    RunColumn{"status", Type::kText, "/status"},
    RunColumn{"error", Type::kText, "/error"},
    RunColumn{"strategy", Type::kText, "/strategy"},
    RunColumn{"family", Type::kText, "/family"},
    RunColumn{"model", Type::kText, "/model"},
    RunColumn{"dataset", Type::kText, "/dataset"},
    RunColumn{"workers", Type::kInteger, "/workers"},
    RunColumn{"servers", Type::kInteger, "/servers"},
    RunColumn{"dedicated_servers", Type::kInteger, "/dedicated_servers"},
    RunColumn{"colocated", Type::kInteger, "/colocated"},
    RunColumn{"transport", Type::kText, "/transport"},
    RunColumn{"codec", Type::kText, "/codec"},
    RunColumn{"hosts", Type::kInteger, "/hosts"},
    RunColumn{"network", Type::kText, "/network"},
    RunColumn{"seed", Type::kInteger, "/seed"},
    RunColumn{"repetition", Type::kInteger, "/repetition"},
    RunColumn{"global_batch", Type::kInteger, "/global_batch"},
    RunColumn{"steps", Type::kInteger, "/steps"},
    RunColumn{"step_ms", Type::kReal, "/step_ms/median"},
    RunColumn{"step_ms_p10", Type::kReal, "/step_ms/p10"},
    RunColumn{"step_ms_p90", Type::kReal, "/step_ms/p90"},
    RunColumn{"compute_ms", Type::kReal, "/compute_ms"},
    RunColumn{"exposed_comm_ms", Type::kReal, "/exposed_comm_ms"},
    RunColumn{"samples_per_s", Type::kReal, "/samples_per_s"},
    RunColumn{"bytes_sent_per_worker", Type::kReal, "/bytes_sent_per_worker"},
    RunColumn{"bytes_received_per_worker", Type::kReal, "/bytes_received_per_worker"},
    RunColumn{"bound_ms", Type::kReal, "/bound_ms"},
    RunColumn{"bound_ratio", Type::kReal, "/bound_ratio"},
    RunColumn{"achievable_ms", Type::kReal, "/achievable_ms"},
    RunColumn{"achievable_ratio", Type::kReal, "/achievable_ratio"},
    RunColumn{"dilation", Type::kReal, "/dilation/factor"},
    RunColumn{"fidelity", Type::kText, "/fidelity/verdict"},
    RunColumn{"limited_by", Type::kText, "/fidelity/limited_by"},
    RunColumn{"staleness_mean", Type::kReal, "/staleness/mean"},
    RunColumn{"final_loss", Type::kReal, "/final_loss"},
    RunColumn{"eval_accuracy", Type::kReal, "/eval_accuracy"},
    RunColumn{"params_sha256", Type::kText, "/params_sha256"},
    RunColumn{"cpu_seconds_workers", Type::kReal, "/cpu_seconds/workers"},
    RunColumn{"cpu_seconds_servers", Type::kReal, "/cpu_seconds/servers"},
    RunColumn{"peak_rss_bytes", Type::kInteger, "/peak_rss_bytes"},
    RunColumn{"startup_seconds", Type::kReal, "/startup_seconds"},
    RunColumn{"train_seconds", Type::kReal, "/train_seconds"},
    RunColumn{"wall_seconds", Type::kReal, "/wall_seconds"},
    RunColumn{"attempt", Type::kInteger, "/attempt"},
    RunColumn{"rerun_of", Type::kText, "/rerun_of"},
    RunColumn{"started", Type::kText, "/started"},
    RunColumn{"ended", Type::kText, "/ended"},
    RunColumn{"version", Type::kText, "/version"},
    RunColumn{"git", Type::kText, "/git"},
    RunColumn{"schema", Type::kText, "/schema"},
};

json Convert(const RunColumn& column, const json& value, const fs::path& file) {
  if (value.is_null()) return value;
  const bool fits =
      (column.type == Type::kInteger && (value.is_number_integer() || value.is_boolean())) ||
      (column.type == Type::kReal && value.is_number()) ||
      (column.type == Type::kText && (value.is_string() || value.is_object() || value.is_array()));
  if (!fits) {
    throw DataError(file.string(), 0,
                    fmt::format("'{}' cannot be {}", column.pointer.substr(1), value.dump()));
  }
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_structured() ? json(value.dump()) : value;
}

bool IsBundle(const fs::path& directory) {
  return fs::exists(directory / kSpecFile) || fs::exists(directory / kSummaryFile);
}

void AddBundle(const fs::path& directory, const std::string& path, BundleScan& scan) {
  if (!fs::exists(directory / path / kSummaryFile)) {
    scan.problems.push_back({path, "unfinished: it has no summary.json", false});
    return;
  }
  try {
    scan.rows.push_back(ReadRunRow(directory, path));
  } catch (const Error& error) {
    scan.problems.push_back({path, error.what()});
  }
}

}  // namespace

std::span<const RunColumn> RunColumns() { return kColumns; }

const json& RunRow::Value(std::string_view column) const {
  const auto* found = std::ranges::find(kColumns, column, &RunColumn::name);
  if (found == kColumns.end()) throw InternalError(fmt::format("no column '{}'", column));
  return values.at(static_cast<std::size_t>(found - kColumns.begin()));
}

RunRow ReadRunRow(const fs::path& directory, const std::string& path) {
  const fs::path file = directory / path / kSummaryFile;
  const json summary = ReadSummary(directory / path);
  RunRow row{path, ReadJsonFile(directory / path / kSpecFile).dump(), {}};
  for (const RunColumn& column : kColumns) {
    const json::json_pointer pointer{std::string(column.pointer)};
    const json value = summary.contains(pointer) ? summary.at(pointer) : json();
    row.values.push_back(Convert(column, value, file));
  }
  if (row.Value("run_id").is_null() || row.Value("status").is_null()) {
    throw DataError(file.string(), 0, "'run_id' and 'status' expected, one is missing");
  }
  return row;
}

BundleScan ScanBundles(const fs::path& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory() && IsBundle(entry->path())) {
      paths.push_back(entry->path().filename().string());
    }
  }
  if (error)
    throw Error(fmt::format("{}: cannot be read: {}", directory.string(), error.message()));
  std::ranges::sort(paths);
  BundleScan scan;
  for (const std::string& path : paths) AddBundle(directory, path, scan);
  return scan;
}

}  // namespace ringside
