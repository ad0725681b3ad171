#ifndef RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_REPORTS_H_
#define RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_REPORTS_H_

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/summary/summary.h"

namespace ringside {

/// Adds what the members of a job have handed in: the report and the host of each worker of
/// `record`, and the reports of `servers` dedicated servers. A report that is missing is null.
void AddReports(const JobState& job_state, int servers, RunRecord& record);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_REPORTS_H_
