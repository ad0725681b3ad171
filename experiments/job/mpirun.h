#ifndef RINGSIDE_EXPERIMENTS_JOB_MPIRUN_H_
#define RINGSIDE_EXPERIMENTS_JOB_MPIRUN_H_

#include <string>
#include <vector>

namespace ringside {

/// What the command line of mpirun depends on.
struct MpirunOptions {
  std::string mpirun;                  ///< Path of the program.
  int workers = 1;                     ///< One process each, all on this machine.
  int cores = 1;                       ///< That this machine lets us use.
  bool as_root = false;                ///< OpenMPI refuses root unless it is told.
  std::vector<std::string> command{};  ///< Of every rank.
};

/// OpenMPI's mpirun, with as many ranks as asked for whatever the cores, and data over shared
/// memory alone: no rank listens on a network. Pure.
std::vector<std::string> MpirunArguments(const MpirunOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_MPIRUN_H_
