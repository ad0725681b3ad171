#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_

#include <string>
#include <vector>

namespace ringside {

/// The values on which mpirun's command line depends.
struct MpirunOptions {
  std::string mpirun;                  ///< Path of the program.
  int workers = 1;                     ///< One process each, all on this machine.
  int cores = 1;                       ///< Cores that this job may use.
  bool as_root = false;                ///< Root needs a flag to run OpenMPI.
  std::vector<std::string> command{};  ///< What every rank runs.
  /// For the files of mpirun and of all ranks, shared memory included; empty: where OpenMPI leaves
  /// them by default, and where they stay if mpirun is killed.
  std::string scratch{};
};

/// The command line of OpenMPI's mpirun. It allows more ranks than cores and sends data only over
/// shared memory, so that no rank listens on a network. mpirun itself listens on a free port of all
/// addresses; OpenMPI 4.1 has no setting for that. Pure.
std::vector<std::string> MpirunArguments(const MpirunOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_
