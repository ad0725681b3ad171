// Tests the strategies over real collectives, with threads as ranks.
#include "ringside/ring/strategies/ring_strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

using testing::HasSubstr;

float GradientOf(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1) * static_cast<std::int64_t>(i % 7));
}

/// Fills gradients and submits all buckets, in an order that differs by rank.
void SubmitAll(Strategy& strategy, RingWorker& worker, std::int64_t step) {
  for (std::size_t i = 0; i < worker.space.size(); ++i) {
    worker.space.grads()[i] = GradientOf(worker.world.rank, step, i);
  }
  std::vector<int> order(static_cast<std::size_t>(worker.plan.buckets()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(),
               std::mt19937(static_cast<unsigned>(std::int64_t{worker.world.rank} * 100 + step)));
  for (const int b : order) strategy.Submit(MakeBucket(worker.space, worker.plan, b, step));
}

class RingStrategyTest : public testing::TestWithParam<const StrategyEntry*> {};

constexpr std::int64_t kSteps = 4;

void ExpectTheSumOfAllGradients(const RingWorker& worker) {
  for (std::size_t i = 0; i < worker.space.size(); ++i) {
    float expected = 1000;  // the initial value of rank 0
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int each = 0; each < worker.world.workers; ++each) {
        expected -= kLearningRate * GradientOf(each, step, i);
      }
    }
    ASSERT_EQ(worker.space.params()[i], expected) << i;
  }
}

/// Runs a job of three under both orders of sums.
void RunUnderBothOrders(const StrategyEntry& entry,
                        const std::function<void(Strategy&, RingWorker&)>& steps) {
  constexpr int kWorld = 3;
  for (const SendOrder order : {SendOrder::kFifo, SendOrder::kPriority}) {
    InProcessStore store;
    RunRanks(kWorld, [&](int rank) {
      StrategyOptions options;
      options.order = order;
      RingWorker worker(rank, kWorld, store, {}, {}, options);
      std::ranges::fill(worker.space.params(), static_cast<float>(1000 + rank));
      const auto strategy = entry.make(worker.context);
      strategy->Start(worker.space, worker.plan, {});
      steps(*strategy, worker);
      strategy->Stop();
      ExpectTheSumOfAllGradients(worker);
    });
  }
}

TEST_P(RingStrategyTest, FollowsTheSumOfAllGradientsWhateverTheOrderOfSubmits) {
  RunUnderBothOrders(*GetParam(), [](Strategy& strategy, RingWorker& worker) {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      AwaitAll(strategy, worker, step);
      SubmitAll(strategy, worker, step);
    }
    AwaitAll(strategy, worker, kSteps);
  });
}

TEST_P(RingStrategyTest, ABucketMayBeAStepAheadOfOthers) {
  RunUnderBothOrders(*GetParam(), [](Strategy& strategy, RingWorker& worker) {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int b = worker.plan.buckets() - 1; b >= 0; --b) {
        const Bucket bucket = MakeBucket(worker.space, worker.plan, b, step);
        strategy.Await(bucket);  // the sums of the buckets before it in this loop have begun
        for (std::size_t i = 0; i < bucket.grads.size(); ++i) {
          bucket.grads[i] = GradientOf(worker.world.rank, step, worker.plan.range(b).begin + i);
        }
        strategy.Submit(bucket);
      }
    }
    AwaitAll(strategy, worker, kSteps);
  });
}

TEST_P(RingStrategyTest, CountsTheBytesThatItMoves) {
  constexpr int kWorld = 2;
  InProcessStore store;
  RunRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {});
    SubmitAll(*strategy, worker, 0);
    AwaitAll(*strategy, worker, 1);
    strategy->Stop();
    // 2(N-1)/N of the gradients. A bucket that is not divisible may add one float.
    const auto all = static_cast<double>(worker.space.size() * sizeof(float));
    const double rounding = sizeof(float) * static_cast<double>(worker.plan.buckets());
    EXPECT_NEAR(static_cast<double>(worker.recorder.bytes_sent()), all, rounding);
    EXPECT_NEAR(static_cast<double>(worker.recorder.bytes_received()), all, rounding);
  });
}

TEST_P(RingStrategyTest, RestoresAndReadsOptimizerState) {
  constexpr int kWorld = 2;
  InProcessStore store;
  RunRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store, {}, {.momentum = 0.5});
    std::vector<float> state(worker.optimizer->state_size(), 8.0F);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {.step = 5, .optimizer_state = state});
    std::ranges::fill(worker.space.grads(), 1.0F);
    for (int b = 0; b < worker.plan.buckets(); ++b) {
      strategy->Submit(MakeBucket(worker.space, worker.plan, b, 5));
    }
    AwaitAll(*strategy, worker, 6);
    strategy->Settle();
    strategy->ReadOptimizerState(state);
    strategy->Stop();
    EXPECT_EQ(state, std::vector<float>(state.size(), 0.5F * 8 + kWorld));
  });
}

TEST_P(RingStrategyTest, NamesTheRankWhosePlanDiffers) {
  constexpr int kWorld = 3;
  InProcessStore store;
  const auto outcomes = TryRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const BucketPlan plan = rank == 1 ? TestPlan(701) : TestPlan();
    FlatSpace space(plan.elements());
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(space, plan, {});
  });
  for (const auto& failure : outcomes.by_rank) {
    try {
      ASSERT_NE(failure, nullptr);
      std::rethrow_exception(failure);
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1");
      EXPECT_THAT(error.what(), HasSubstr("plan"));
    }
  }
}

TEST_P(RingStrategyTest, APeerThatLeavesIsNamedByAllAndNobodyHangs) {
  constexpr int kWorld = 4;
  constexpr int kLeaver = 1;
  InProcessStore store;
  const auto outcomes = TryRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {});
    SubmitAll(*strategy, worker, 0);
    AwaitAll(*strategy, worker, 1);
    if (rank == kLeaver) return;  // without Stop
    std::string first;
    try {
      SubmitAll(*strategy, worker, 1);
      AwaitAll(*strategy, worker, 2);
      ADD_FAILURE() << "worker 1 is gone";
    } catch (const CommError& error) {
      first = error.what();
      EXPECT_EQ(error.peer(), "worker 1") << error.what();
      EXPECT_THAT(error.operation(), HasSubstr("step 1"));
    }
    try {
      strategy->Stop();
      ADD_FAILURE() << "it has failed before";
    } catch (const CommError& error) {
      EXPECT_EQ(error.what(), first);
      throw;
    }
  });
  EXPECT_EQ(outcomes.failures(), kWorld - 1);
}

INSTANTIATE_TEST_SUITE_P(Gloo, RingStrategyTest,
                         testing::Values(&RingStrategy("ring"), &RingStrategy("halving-doubling"),
                                         &RingStrategy("recursive-doubling"),
                                         &RingStrategy("tree")),
                         [](const auto& entry) {
                           std::string name(entry.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace ringside
