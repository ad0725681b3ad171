#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_CLUSTER_RUN_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_CLUSTER_RUN_H_

#include <optional>
#include <string>

#include "ringside/experiments/job/agents/rank_starter.h"
#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// The program that starts a run's processes: what the options say, or mpirun for a strategy whose
/// workers must be its ranks. Throws `ConfigError` when the options name another one for such a
/// strategy.
LauncherProgram LauncherOf(const RunSpec& spec, const LauncherOptions& options);

/// How long to wait until all processes of a run have joined: what the options say, otherwise 30 s,
/// or 10 minutes for a program of the user's, which joins after its imports.
std::chrono::milliseconds JoinTimeout(const RunSpec& spec, const LauncherOptions& options);

/// `options`, and where they give no address, the address of this machine that the hosts of the run
/// reach: loopback if all of them are this machine. Throws `ConfigError` when the list of hosts is
/// wrong or a host is unknown. If mpirun reaches the hosts of a file by ssh, every one of them is
/// looked up, with an address given, too; a name that ssh's settings explain is known. Slurm and
/// other programs know their hosts themselves: then hosts are looked up until an address is found.
JobOptions WithReachableAddress(const RunSpec& spec, const JobOptions& options,
                                const Environment& environment);

/// The agents of a run that another program starts; absent where this process starts all itself.
/// `options` are those of `WithReachableAddress`. Throws `ConfigError` when the hosts have too few
/// slots, the run emulates a network or hosts, or other hosts have no file of the token (the
/// variable RINGSIDE_TOKEN_FILE); `MissingBackendError` when the program is not in PATH.
std::optional<AgentPlan> PlanAgents(const RunSpec& spec, const JobOptions& options,
                                    const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_CLUSTER_RUN_H_
