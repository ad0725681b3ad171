#ifndef RINGSIDE_EXPERIMENTS_JOB_JOINED_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_JOINED_JOB_H_

#include "experiments/job/rank_environment.h"
#include "experiments/job/run_job.h"
#include "experiments/run_spec.h"

namespace ringside {

/// Like `RunJob`, for a process that another launcher started as one rank of a job: it is the agent
/// of that rank and starts only its own worker, or the agent of one server. The agent of rank 0
/// also hosts the coordinator, starts the dedicated servers that have no agents, and alone shows
/// progress and writes the bundle; the others' outcome has status and error, and a null summary.
/// The first failure ends all ranks: every agent returns it, named alike.
///
/// Agents on one machine (network namespaces included) find rank 0 through a 0600 file named by
/// `ranks.job_key`; those of several machines through MASTER_ADDR:MASTER_PORT, with the token in
/// the file that RINGSIDE_TOKEN_FILE names. `options.address` is the address of this process; when
/// it is left at the default and MASTER_ADDR is another machine's, the address of the route to
/// MASTER_ADDR is taken. RINGSIDE_TOKEN_FILE is read from `environment`.
///
/// Throws `ConfigError` when `spec.workers` is not `ranks.workers`, or an address is not loopback
/// and `options.insecure_network` is not set; `CommError` when rank 0 is not there in time.
JobOutcome RunJoinedJob(const RunSpec& spec, const JobOptions& options,
                        const RankEnvironment& ranks, const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_JOINED_JOB_H_
