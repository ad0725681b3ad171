#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_LAUNCHER_PROGRAM_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_LAUNCHER_PROGRAM_H_

#include <string>

namespace ringside {

/// The program that starts the processes of a run.
enum class LauncherProgram {
  kRingside,  ///< This one, on this machine.
  kMpirun,    ///< OpenMPI's, which goes to other hosts by ssh.
  kSrun,      ///< Slurm's, inside of an allocation.
};

/// "ringside", "mpirun", "srun".
const char* LauncherProgramName(LauncherProgram program);
/// Throws `ConfigError` for another name.
LauncherProgram ParseLauncherProgram(const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_LAUNCHER_PROGRAM_H_
