#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_SLURM_TASKS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_SLURM_TASKS_H_

#include <string>
#include <vector>

namespace ringside {

/// Reads how many tasks Slurm has put on each node, as in "2(x3),1": two on each of three nodes,
/// then one. `name` is the variable that has `list`. Throws `ConfigError` naming it.
std::vector<int> ParseTasksPerNode(const char* name, const std::string& list);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_SLURM_TASKS_H_
