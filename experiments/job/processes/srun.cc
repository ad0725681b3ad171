#include "ringside/experiments/job/processes/srun.h"

namespace ringside {

std::vector<std::string> SrunArguments(const SrunOptions& options) {
  std::vector<std::string> argv{
      options.srun, "--ntasks=" + std::to_string(options.processes),
      "--nodes=" + std::to_string(options.hosts), "--distribution=arbitrary",
      // Agents start no MPI programs; without this srun may wait for them.
      "--mpi=none", "--cpu-bind=none", "--overlap", "--input=all",
      // The agents tell each other who has failed.
      "--kill-on-bad-exit=0"};
  argv.insert(argv.end(), options.command.begin(), options.command.end());
  return argv;
}

}  // namespace ringside
