#include "paramserver/ps_strategies.h"

#include <memory>

#include "paramserver/consistency.h"
#include "paramserver/ps_server.h"
#include "paramserver/ps_strategy.h"

namespace ringside {
namespace {

using MakeConsistencyFor = std::unique_ptr<Consistency> (*)(int workers, const Schedule& schedule);

std::unique_ptr<Strategy> MakeWorker(const StrategyContext& context) {
  return std::make_unique<PsStrategy>(context);
}

template <MakeConsistencyFor make>
std::unique_ptr<Server> MakeServer(const ServerContext& context) {
  return std::make_unique<PsServer>(context,
                                    [workers = context.workers, &schedule = context.schedule] {
                                      return make(workers, schedule);
                                    });
}

}  // namespace

const StrategyEntry kPsSyncEntry{
    .name = "ps-sync",
    .family = Family::kParameterServer,
    .summary = "parameter servers that apply a step when all workers have pushed it",
    .synchronous = true,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<MakeSynchronous>,
    .bound = ParameterServerCost,
};

const StrategyEntry kPsAsyncEntry{
    .name = "ps-async",
    .family = Family::kParameterServer,
    .summary = "parameter servers that apply every push at once (stale gradients)",
    .synchronous = false,
    .averaging = Averaging::kGlobalBatch,
    .memory = MemoryKind::kOrdinary,
    .make = MakeWorker,
    .make_server = MakeServer<MakeAsynchronous>,
    .bound = ParameterServerCost,
};

}  // namespace ringside
