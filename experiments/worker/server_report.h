#ifndef RINGSIDE_EXPERIMENTS_WORKER_SERVER_REPORT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_SERVER_REPORT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// Staleness (versions behind -> number of pushes) as an object with decimal keys.
nlohmann::json StalenessJson(const std::map<std::int64_t, std::int64_t>& staleness);

/// A server's report, sent by its own process or as part of its worker's report.
nlohmann::json ServerReportJson(const ServerReport& report);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_SERVER_REPORT_H_
