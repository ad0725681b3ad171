#include "ringside/experiments/job/processes/mpirun.h"

namespace ringside {
namespace {

// A worker computes on one thread and calls MPI on another.
constexpr int kThreadsOfAWorker = 2;

}  // namespace

std::vector<std::string> MpirunArguments(const MpirunOptions& options) {
  std::vector<std::string> argv{options.mpirun, "--quiet"};
  if (options.as_root) argv.emplace_back("--allow-run-as-root");
  argv.insert(argv.end(), {"--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader"});
  if (kThreadsOfAWorker * options.workers > options.cores) {
    // Otherwise a waiting rank keeps a core from a computing one.
    argv.insert(argv.end(), {"--mca", "mpi_yield_when_idle", "1"});
  }
  if (!options.scratch.empty()) {
    argv.insert(argv.end(), {"--mca", "orte_tmpdir_base", options.scratch});
    argv.insert(argv.end(), {"--mca", "btl_vader_backing_directory", options.scratch});
  }
  argv.insert(argv.end(), {"-np", std::to_string(options.workers)});
  argv.insert(argv.end(), options.command.begin(), options.command.end());
  return argv;
}

}  // namespace ringside
