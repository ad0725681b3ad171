#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RECOVERY_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RECOVERY_H_

#include <functional>

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Runs one generation: all processes, from their start to the end of the last one.
using GenerationFunction = std::function<JobOutcome(const RunSpec&, const JobOptions&)>;

/// Runs a spec until it is done, or fails in a way that no restart mends (`IsRecoverable`), or has
/// used up `options.recovery.max_restarts`. Each generation has a coordinator, a token and ports of
/// its own, so a late message of an older one finds nobody. It resumes from the newest checkpoint
/// in the bundle that all its workers can read, else from where the spec starts. So the samples
/// after that checkpoint are trained again, with the parameters that it has.
///
/// With `OnFailure::kShrink` a generation has one worker less than the one before, unless that one
/// failed because of a server. The global batch stays, so the steps are the same steps. A spec that
/// cannot have fewer workers fails.
///
/// Where the servers can drop a worker (`LostWorkers`), its loss is no failure of the generation.
///
/// If the next generation cannot begin, the run ends with the failure of the last one and both
/// reasons. Throws only before the first one has begun.
///
/// What a failed generation wrote is in the bundle's `generations/N`: metrics, logs, processes.
/// `summary.json` describes the last generation and lists the others.
JobOutcome RunWithRecovery(const RunSpec& spec, const JobOptions& options,
                           const GenerationFunction& run);

/// The spec with one worker less. Throws `ConfigError` if there is none, or if a flag means
/// something else with fewer workers.
RunSpec Shrunk(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_RECOVERY_H_
