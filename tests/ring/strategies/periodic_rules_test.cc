// Tests strategies whose workers step alone: when they synchronise, with which result, and what a
// pause changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/ring/strategies/diloco.h"
#include "tests/common/test_dataset.h"
#include "tests/common/test_job.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

constexpr int kWorld = 2;

StrategyOptions Options(std::int64_t sync_every, double outer_lr = 0.7,
                        double outer_momentum = 0.9) {
  StrategyOptions options;
  options.Set(kSyncEvery, sync_every);
  options.Set(kOuterLr, outer_lr);
  options.Set(kOuterMomentum, outer_momentum);
  return options;
}

/// The steps to take: from `first` to before `end`, with a pause after `pause`.
struct Stretch {
  std::int64_t end = 0;
  std::int64_t first = 0;
  std::int64_t pause = -1;
};

/// Takes these steps on every rank with the gradient rank + 1 everywhere, and settles. Returns the
/// ranks' final values, and how many floats each has sent.
struct Ended {
  std::vector<std::vector<float>> params;
  std::vector<std::uint64_t> floats_sent;
};

Ended StepAndSettle(const StrategyEntry& entry, const StrategyOptions& options,
                    const Stretch& steps) {
  InProcessStore store;
  Ended ended{std::vector<std::vector<float>>(kWorld), std::vector<std::uint64_t>(kWorld)};
  RunRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store, {}, {}, options);
    std::ranges::fill(worker.space.params(), 100.0F);
    const auto strategy = entry.make(worker.context);
    strategy->Start(worker.space, worker.plan, {.step = steps.first});
    for (std::int64_t step = steps.first; step < steps.end; ++step) {
      AwaitAll(*strategy, worker, step);
      std::ranges::fill(worker.space.grads(), static_cast<float>(rank + 1));
      for (int b = 0; b < worker.plan.buckets(); ++b) {
        strategy->Submit(MakeBucket(worker.space, worker.plan, b, step));
      }
      if (step != steps.pause) continue;
      AwaitAll(*strategy, worker, step + 1);
      strategy->Settle();
    }
    AwaitAll(*strategy, worker, steps.end);
    strategy->Settle();
    const auto index = static_cast<std::size_t>(rank);
    ended.params[index].assign(worker.space.params().begin(), worker.space.params().end());
    ended.floats_sent[index] = worker.recorder.bytes_sent() / sizeof(float);
    strategy->Stop();
  });
  return ended;
}

void ExpectAll(const Ended& ended, float expected) {
  for (const auto& params : ended.params) {
    ASSERT_THAT(params, testing::Each(testing::FloatNear(expected, 1e-4F)));
  }
}

constexpr float kMeanStep = kLearningRate * 1.5F;

TEST(LocalSgdTest, ParametersAreTheMeanAfterEveryPeriod) {
  for (const std::int64_t steps : {2, 4, 6}) {
    ExpectAll(StepAndSettle(RingStrategy("local-sgd"), Options(2), {steps}),
              100 - kMeanStep * static_cast<float>(steps));
  }
}

TEST(LocalSgdTest, APauseBetweenTwoSyncsIsAMean) {
  ExpectAll(StepAndSettle(RingStrategy("local-sgd"), Options(4), {3}), 100 - 3 * kMeanStep);
}

TEST(LocalSgdTest, OnlySyncsMoveBytes) {
  const auto elements = TestPlan().elements();  // of two workers each sends half, twice
  const auto sent = [](std::int64_t steps) {
    return static_cast<double>(
        StepAndSettle(RingStrategy("local-sgd"), Options(4), {steps}).floats_sent[0]);
  };
  const double rounding = 2.0 * TestPlan().buckets();
  EXPECT_NEAR(sent(8), 2.0 * static_cast<double>(elements), rounding);
  EXPECT_NEAR(sent(9), 3.0 * static_cast<double>(elements), rounding)
      << "a pause is a synchronisation";
}

/// The closed form for an outer learning rate and an outer momentum of 0.5.
struct OuterSteps {
  float params = 100;
  float velocity = 0;

  /// After so many steps of every worker.
  void Sync(int steps) {
    const float gradient = static_cast<float>(steps) * kMeanStep;
    velocity = 0.5F * velocity + gradient;
    params -= 0.5F * (gradient + 0.5F * velocity);
  }
};

TEST(DilocoTest, AnOuterNesterovStepTakesTheMeanProgress) {
  const StrategyOptions options = Options(2, 0.5, 0.5);
  OuterSteps outer;
  for (int sync = 1; sync <= 3; ++sync) {
    outer.Sync(2);
    ExpectAll(StepAndSettle(RingStrategy("diloco"), options, {std::int64_t{2} * sync}),
              outer.params);
  }
}

TEST(DilocoTest, APauseBetweenTwoSyncsIsAMeanWithoutAnOuterStep) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  ExpectAll(StepAndSettle(RingStrategy("diloco"), options, {3}), 100 - 3 * kMeanStep);
}

// The outer gradient still counts from the last synchronisation, not from the pause.
TEST(DilocoTest, TrainsThroughAPauseBetweenTwoSyncs) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  OuterSteps outer;
  outer.Sync(4);
  outer.Sync(4);
  for (const std::int64_t pause : {1, 5, 6}) {
    ExpectAll(StepAndSettle(RingStrategy("diloco"), options, {.end = 8, .pause = pause}),
              outer.params);
  }
}

TEST(DilocoTest, AStartBetweenTwoSyncsCountsFromItsOwnParameters) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  OuterSteps outer;
  outer.Sync(2);
  outer.Sync(4);
  ExpectAll(StepAndSettle(RingStrategy("diloco"), options, {.end = 12, .first = 6}), outer.params);
}

std::vector<float> Trained(const StrategyEntry& entry, int workers, Averaging averaging,
                           const StrategyOptions& options) {
  const TestDataset dataset(64, 16);
  const TestJobOptions job{
      .workers = workers,
      .trainer = {.end_step = 16, .global_batch = 8, .averaging = averaging, .eval_every = 5}};
  const auto make = [&](const StrategyContext& context) {
    StrategyContext with_options = context;
    with_options.options = options;
    return entry.make(with_options);
  };
  return RunTestJob(job, dataset, make)[0].params;
}

TEST(LocalSgdTest, EveryStepOnEqualBatchesItFollowsTheSumOfGradients) {
  for (const int workers : {2, 4}) {
    const auto summed = Trained(RingStrategy("ring"), workers, Averaging::kGlobalBatch, {});
    const auto averaged =
        Trained(RingStrategy("local-sgd"), workers, Averaging::kLocalBatch, Options(1));
    EXPECT_THAT(averaged, testing::Pointwise(testing::FloatNear(1e-5F), summed));
    const auto apart =
        Trained(RingStrategy("local-sgd"), workers, Averaging::kLocalBatch, Options(4));
    EXPECT_NE(apart, averaged);
  }
}

TEST(PeriodicRulesTest, ImpossibleOptionsAreRefused) {
  const auto refused = [](std::int64_t sync_every, double outer_lr, double outer_momentum) {
    try {
      Options(sync_every, outer_lr, outer_momentum);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(1, 0.1, 0), "");
  EXPECT_EQ(
      refused(0, 0.7, 0.5),
      "sync-every: 0 is out of range; give a number that is 1 or more (1 averages after every "
      "step)");
  EXPECT_EQ(refused(10, 0, 0.5),
            "outer-lr: 0 is out of range; give a number that is above 0 (0 moves nothing)");
  EXPECT_THAT(refused(10, 0.7, 1), testing::HasSubstr("0 or more and below 1"));
  EXPECT_THAT(refused(10, 0.7, -0.1), testing::StartsWith("outer-momentum: -0.1 is out of range"));
}

}  // namespace
}  // namespace ringside
