#ifndef RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_CLUSTER_HOSTS_H_
#define RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_CLUSTER_HOSTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// A host on which processes of a run may be started.
struct ClusterHost {
  std::string name{};            ///< As ssh or srun takes it.
  int slots = 1;                 ///< The number of processes that may be started there.
  std::optional<int> servers{};  ///< Of these, the slots for dedicated servers alone.
  std::string origin{};          ///< Where it is listed: "hosts.txt:3", "Slurm job 17".
};

/// The hosts of a run.
struct ClusterHosts {
  std::string origin;  ///< "hosts.txt", "Slurm job 17"
  std::vector<ClusterHost> hosts;
};

/// Reads a list of hosts: one `NAME [slots=N] [servers=M]` a line; `#` begins a comment. This is
/// the syntax of OpenMPI's hostfiles, and `servers`. N counts workers and servers; it is 1, or M if
/// that is larger. Throws `ConfigError` naming the line.
ClusterHosts ParseHostfile(std::string_view text, const std::string& origin);
/// The same, from a file. Throws `DataError` when it cannot be read.
ClusterHosts ReadHostfile(const std::string& path);

/// The nodes and tasks of the Slurm allocation in which this process runs. Absent outside of one.
/// Calls `scontrol`. Throws `ConfigError`, and `MissingBackendError` without `scontrol`.
std::optional<ClusterHosts> SlurmAllocation(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_CLUSTER_HOSTS_H_
