#ifndef RINGSIDE_TESTS_RING_RING_WORKER_H_
#define RINGSIDE_TESTS_RING_RING_WORKER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/strategies/ring_strategies.h"
#include "tests/common/thread_ranks.h"

namespace ringside {

inline constexpr float kLearningRate = 0.25F;

inline BucketPlan TestPlan(std::size_t last_tensor = 700) {
  const std::vector<TensorSpec> tensors{
      {"a", 100}, {"b", 1}, {"c", 30'000}, {"d", 5}, {"e", last_tensor}};
  return {tensors, {.target_bytes = 16'384, .first_bytes = 256}};
}

/// Everything one worker needs, with SGD without momentum.
struct RingWorker {
  RingWorker(int rank, int workers, Store& store, CommOptions options = {},
             OptimizerOptions optimizer_options = {}, StrategyOptions strategy_options = {})
      : world(TestWorld(rank, workers)),
        comm(std::move(options)),
        plan(TestPlan()),
        space(plan.elements()),
        optimizer(Optimizer::Make(optimizer_options, plan.elements())),
        context{world, store, comm, *optimizer, schedule, recorder, timeline, strategy_options} {
    comm.token = "secret";
  }

  World world;
  CommOptions comm;
  BucketPlan plan;
  FlatSpace space;
  std::unique_ptr<Optimizer> optimizer;
  Schedule schedule{ScheduleOptions{.base = kLearningRate}};
  Recorder recorder{16};
  Timeline timeline{TimelineCapacity{4096, 4096}};
  StrategyContext context;
};

/// One of `RingStrategies`, by its name.
inline const StrategyEntry& RingStrategy(std::string_view name) {
  static const std::vector<StrategyEntry> strategies = RingStrategies();
  return *std::ranges::find(strategies, name, &StrategyEntry::name);
}

inline void AwaitAll(Strategy& strategy, RingWorker& worker, std::int64_t step) {
  for (int b = 0; b < worker.plan.buckets(); ++b) {
    strategy.Await(MakeBucket(worker.space, worker.plan, b, step));
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_RING_RING_WORKER_H_
