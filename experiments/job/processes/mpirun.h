#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_

#include <optional>
#include <string>
#include <vector>

namespace ringside {

/// The values on which mpirun's command line depends.
struct MpirunOptions {
  std::string mpirun;                  ///< Path of the program.
  int workers = 1;                     ///< One process each.
  int cores = 1;                       ///< Cores that this job may use.
  bool as_root = false;                ///< Root needs a flag to run OpenMPI.
  std::vector<std::string> command{};  ///< What every rank runs.
  /// For the files of mpirun and of all ranks, shared memory included; empty: where OpenMPI leaves
  /// them by default, and where they stay if mpirun is killed.
  std::string scratch{};
  /// The host of each process, by rank, instead of `workers` processes on this machine.
  std::vector<std::string> hosts{};
  std::vector<std::string> variables{};  ///< Names of our variables that the ranks get, too.
  /// LD_PRELOAD of the ranks, where mpirun itself has another one.
  std::optional<std::string> preload{};
};

/// The path of the library that keeps the listeners of a mpirun that preloads it on loopback; empty
/// when it is missing. It lies where backends do (`SharedBackend`).
std::string LoopbackLibrary();

/// The command line of OpenMPI's mpirun. It allows more ranks than cores. On one machine it sends
/// data only over shared memory, so that no rank listens on a network. mpirun itself listens on
/// free ports of all addresses, unless it preloads `LoopbackLibrary`; OpenMPI 4.1 has no setting
/// for that. To other hosts it goes by ssh, or as OpenMPI's own settings say, and under the names
/// that `hosts` has. Pure.
std::vector<std::string> MpirunArguments(const MpirunOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MPIRUN_H_
