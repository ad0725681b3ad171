#ifndef RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_
#define RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_

#include <functional>
#include <string>
#include <vector>

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/worker/member_process.h"

namespace ringside {

/// Runs one worker process, for the internal verb `worker`, in a program whose catalog can make the
/// model. `args` are the arguments after the verb; the launcher writes them, people never do.
/// Returns the exit code. Catches everything that training throws and reports it to the
/// coordinator.
int RunWorker(const std::vector<std::string>& args, const Catalog& catalog);

/// The same inside of a user's program. `joined` is called when the job knows the worker.
int RunProgramWorker(const std::vector<std::string>& args, const Catalog& catalog,
                     const std::function<void(MemberProcess&)>& joined);

/// Runs one worker process that times the strategy's operation instead of training, for the
/// internal verb `bench-worker`.
int RunBenchWorker(const std::vector<std::string>& args, const Catalog& catalog);

/// Runs one dedicated parameter server, for the internal verb `server`.
int RunServer(const std::vector<std::string>& args, const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_
