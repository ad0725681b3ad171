#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Runs one resolved spec: the coordinator in this process, the servers and workers as children, or
/// where `options.launcher` puts them. Returns when the last child has ended and leaves no process
/// behind, whatever happens; on other hosts they end when they miss the coordinator. SIGINT or
/// SIGTERM drains the job (kInterrupted, partial results are kept). A second signal kills it, and
/// so do 10 s, or the limit of one operation if that is shorter. While the network is being built,
/// one signal is enough to end it. Throws `ConfigError` or `MissingBackendError` before anything
/// starts, and `CommError` when a link of the network carries nothing. Failures of the run itself
/// are in the outcome. With `options.recovery` a failed run goes on as `RunWithRecovery`
/// (recovery.h) says.
JobOutcome RunJob(const RunSpec& spec, const JobOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RUN_JOB_H_
