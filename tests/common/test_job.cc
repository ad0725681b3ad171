#include "tests/common/test_job.h"

#include <algorithm>
#include <cstddef>

#include "tests/common/slow_store.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

TestJobOutcome RunWorker(const TestJobOptions& options, const World& world, const Dataset& dataset,
                         Store& store, const StrategyFactory& make_strategy,
                         TrainerObserver& observer) {
  TestModel model(options.model);
  const BucketPlan plan(model.Tensors(), options.plan);
  FlatSpace space(plan.elements());
  model.Bind(space, plan);
  std::ranges::copy(options.params, space.params().begin());
  const auto optimizer = Optimizer::Make(options.optimizer, plan.elements());
  const Schedule schedule(options.schedule);
  Recorder recorder(static_cast<std::size_t>(options.trainer.end_step));
  Timeline timeline;
  const auto strategy =
      make_strategy({world, store, options.comm, *optimizer, schedule, recorder, timeline});
  TestJobOutcome outcome;
  outcome.result =
      Train({world, model, *strategy, space, plan, dataset, store, recorder, timeline, observer},
            options.trainer);
  outcome.params.assign(space.params().begin(), space.params().end());
  outcome.buffers.assign(model.Buffers().begin(), model.Buffers().end());
  outcome.steps = recorder.steps();
  outcome.evaluations = recorder.evaluations();
  return outcome;
}

}  // namespace

std::vector<TestJobOutcome> RunTestJob(const TestJobOptions& options, const Dataset& dataset,
                                       const StrategyFactory& make_strategy,
                                       const ObserverFactory& make_observer) {
  SlowStore store;
  store.Delay("exchange/", options.drift);
  std::vector<TestJobOutcome> outcomes(static_cast<std::size_t>(options.workers));
  RunRanks(options.workers, [&](int rank) {
    const World world = TestWorld(rank, options.workers, options.servers, options.colocated);
    const auto observer =
        make_observer ? make_observer(world) : std::make_unique<TrainerObserver>();
    outcomes[static_cast<std::size_t>(rank)] =
        RunWorker(options, world, dataset, store, make_strategy, *observer);
  });
  return outcomes;
}

}  // namespace ringside
