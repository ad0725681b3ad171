#ifndef RINGSIDE_EXPERIMENTS_CLI_OPTIONS_JOB_FLAGS_H_
#define RINGSIDE_EXPERIMENTS_CLI_OPTIONS_JOB_FLAGS_H_

#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// Adds the flags for how runs are carried out, the same for every verb that starts runs:
/// --address, --tls, --insecure-network, --launcher, --hostfile, --start-timeout, --time-limit,
/// --quiet.
void AddJobFlags(OptionSet& options);

/// Adds --on-failure and --max-restarts, for the verbs whose runs can go on after a failure.
void AddRecoveryFlags(OptionSet& options);

/// Reads all job options except the bundle's directory. The address comes from the flag, else from
/// RINGSIDE_ADDRESS; the certificates from the flag, else from RINGSIDE_TLS. Throws `UsageError`.
JobOptions ReadJobFlags(const ParsedOptions& parsed, const Environment& environment);

/// Where --launcher and --hostfile put the processes of a run. Throws `UsageError`.
RunsOn WhereProcessesRun(const ParsedOptions& parsed);

/// For a process that another launcher has started as a rank. Throws `UsageError` if the options
/// name a launcher, too.
void RequireOwnLauncher(const JobOptions& job);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_OPTIONS_JOB_FLAGS_H_
