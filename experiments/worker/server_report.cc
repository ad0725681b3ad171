#include "ringside/experiments/worker/server_report.h"

#include <nlohmann/json.hpp>
#include <string>

namespace ringside {

nlohmann::json StalenessJson(const std::map<std::int64_t, std::int64_t>& staleness) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [versions, pushes] : staleness) json[std::to_string(versions)] = pushes;
  return json;
}

nlohmann::json ServerReportJson(const ServerReport& report) {
  return {{"payload_bytes_received", report.bytes_received},
          {"payload_bytes_sent", report.bytes_sent},
          {"updates", report.updates},
          {"staleness", StalenessJson(report.staleness)},
          {"dropped_pushes", report.dropped_pushes}};
}

}  // namespace ringside
