#ifndef RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_
#define RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_

#include <span>
#include <string>
#include <vector>

#include "models/model_table.h"

namespace ringside {

/// The life of one worker process, from `ringside-worker` (all models) and from the internal verb
/// `ringside worker` (those that need no libtorch). `args` are what follows the verb: the launcher
/// writes them, people never do. Returns the exit code; catches everything that training throws and
/// reports it to the coordinator.
int RunWorker(const std::vector<std::string>& args, std::span<const ModelEntry> models);

/// The life of one worker process that times the strategy's operation instead of training, from the
/// internal verb `ringside bench-worker`.
int RunBenchWorker(const std::vector<std::string>& args);

/// The life of one dedicated parameter server, from the internal verb `ringside server`.
int RunServer(const std::vector<std::string>& args);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_WORKER_H_
