#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EXTERNALLY_LAUNCHED_RANK_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EXTERNALLY_LAUNCHED_RANK_H_

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// Like `RunJob`, for a process that another launcher started as one rank of a job. The process is
/// the agent of one rank or one server, and starts only that one. The agent of rank 0 also hosts
/// the coordinator and starts the dedicated servers that have no agents. It alone shows progress
/// and writes the bundle; other agents return status and error, with a null summary. The first
/// failure ends all ranks, and every agent returns that failure.
///
/// Agents on one machine (network namespaces included) find rank 0 through a 0600 file named by
/// `ranks.job_key`. Agents on several machines use MASTER_ADDR:MASTER_PORT, with the token in the
/// file that RINGSIDE_TOKEN_FILE names; `environment` has this variable. `options.address` is the
/// address of this process. If it has its default and MASTER_ADDR is another machine's address, the
/// address of the route to MASTER_ADDR is used.
///
/// Throws `ConfigError` when `spec.workers` is not `ranks.workers`, or the network to its own
/// address or to rank 0 is not protected (`RequireProtectedNetwork`); `CommError` when rank 0 is
/// not there in time. A rank that was started with wrong flags first tells rank 0, if that is
/// there within a second. One whose address is refused does not: that would send the token.
JobOutcome RunExternallyLaunchedRank(const RunSpec& spec, const JobOptions& options,
                                     const RankEnvironment& ranks, const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EXTERNALLY_LAUNCHED_RANK_H_
