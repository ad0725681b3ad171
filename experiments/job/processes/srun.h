#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_SRUN_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_SRUN_H_

#include <string>
#include <vector>

namespace ringside {

/// The values on which srun's command line depends.
struct SrunOptions {
  std::string srun;  ///< Path of the program.
  int processes = 1;
  int hosts = 1;                       ///< The number of different nodes among them.
  std::vector<std::string> command{};  ///< What every process runs.
};

/// The command line of Slurm's srun for a step of the allocation in which it is called. The
/// variable SLURM_HOSTFILE must name a file with the node of each process, one a line. The
/// processes share the allocation's cores, and each reads srun's standard input. Pure.
std::vector<std::string> SrunArguments(const SrunOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_SRUN_H_
