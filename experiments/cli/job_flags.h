#ifndef RINGSIDE_EXPERIMENTS_CLI_JOB_FLAGS_H_
#define RINGSIDE_EXPERIMENTS_CLI_JOB_FLAGS_H_

#include "experiments/cli/option_set.h"
#include "experiments/job/rank_environment.h"
#include "experiments/job/run_job.h"

namespace ringside {

/// The flags that say how runs are carried out, the same for every verb that starts some:
/// --address, --insecure-network, --time-limit, --quiet.
void AddJobFlags(OptionSet& options);

/// Everything but the bundle's directory. The address is that of the flag, else of
/// RINGSIDE_ADDRESS. Throws `UsageError`.
JobOptions ReadJobFlags(const ParsedOptions& parsed, const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_JOB_FLAGS_H_
