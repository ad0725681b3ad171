#include "ringside/experiments/job/watch/member_reports.h"

#include <nlohmann/json.hpp>
#include <optional>

namespace ringside {
namespace {

nlohmann::json ReportIn(const std::optional<MemberRecord>& member) {
  if (!member || member->report.empty()) return nullptr;
  return nlohmann::json::parse(member->report, nullptr, false);
}

}  // namespace

void AddReports(const JobState& job_state, int servers, RunRecord& record) {
  int rank = 0;
  for (WorkerRecord& worker : record.workers) {
    const auto member = job_state.Record({Role::kWorker, rank++});
    if (member) worker.host = member->host;
    worker.report = ReportIn(member);
  }
  for (int index = 0; index < servers; ++index) {
    record.server_reports.push_back(ReportIn(job_state.Record({Role::kServer, index})));
  }
}

}  // namespace ringside
