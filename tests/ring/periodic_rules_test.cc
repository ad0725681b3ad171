// Workers that step alone: when they meet, what they make of it, what a pause does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ring/ring_strategies.h"
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
  options.sync_every = sync_every;
  options.outer_lr = outer_lr;
  options.outer_momentum = outer_momentum;
  return options;
}

/// Which steps are taken: from `first` to before `end`, with a pause after `pause`.
struct Stretch {
  std::int64_t end = 0;
  std::int64_t first = 0;
  std::int64_t pause = -1;
};

/// Every rank takes these steps with the gradient rank + 1 everywhere, and settles; what the ranks
/// end with, and how many floats each has sent.
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
    ExpectAll(StepAndSettle(kLocalSgdEntry, Options(2), {steps}),
              100 - kMeanStep * static_cast<float>(steps));
  }
}

TEST(LocalSgdTest, APauseBetweenTwoMeetingsIsAMean) {
  ExpectAll(StepAndSettle(kLocalSgdEntry, Options(4), {3}), 100 - 3 * kMeanStep);
}

TEST(LocalSgdTest, OnlyMeetingsMoveBytes) {
  const auto elements = TestPlan().elements();  // of two workers each sends half, twice
  const auto sent = [](std::int64_t steps) {
    return static_cast<double>(StepAndSettle(kLocalSgdEntry, Options(4), {steps}).floats_sent[0]);
  };
  const double rounding = 2.0 * TestPlan().buckets();
  EXPECT_NEAR(sent(8), 2.0 * static_cast<double>(elements), rounding);
  EXPECT_NEAR(sent(9), 3.0 * static_cast<double>(elements), rounding) << "a pause is a meeting";
}

/// The closed form, under an outer learning rate and momentum of a half.
struct OuterSteps {
  float params = 100;
  float velocity = 0;

  /// After so many steps of every worker.
  void Meet(int steps) {
    const float gradient = static_cast<float>(steps) * kMeanStep;
    velocity = 0.5F * velocity + gradient;
    params -= 0.5F * (gradient + 0.5F * velocity);
  }
};

TEST(DilocoTest, AnOuterNesterovStepTakesTheMeanProgress) {
  const StrategyOptions options = Options(2, 0.5, 0.5);
  OuterSteps outer;
  for (int meeting = 1; meeting <= 3; ++meeting) {
    outer.Meet(2);
    ExpectAll(StepAndSettle(kDilocoEntry, options, {2 * meeting}), outer.params);
  }
}

TEST(DilocoTest, APauseBetweenTwoMeetingsIsAMeanWithoutAnOuterStep) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  ExpectAll(StepAndSettle(kDilocoEntry, options, {3}), 100 - 3 * kMeanStep);
}

// The outer gradient still counts from the last meeting, not from the pause.
TEST(DilocoTest, TrainsThroughAPauseBetweenTwoMeetings) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  OuterSteps outer;
  outer.Meet(4);
  outer.Meet(4);
  for (const std::int64_t pause : {1, 5, 6}) {
    ExpectAll(StepAndSettle(kDilocoEntry, options, {.end = 8, .pause = pause}), outer.params);
  }
}

TEST(DilocoTest, AStartBetweenTwoMeetingsCountsFromItsOwnParameters) {
  const StrategyOptions options = Options(4, 0.5, 0.5);
  OuterSteps outer;
  outer.Meet(2);
  outer.Meet(4);
  ExpectAll(StepAndSettle(kDilocoEntry, options, {.end = 12, .first = 6}), outer.params);
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
    const auto summed = Trained(kRingEntry, workers, Averaging::kGlobalBatch, {});
    const auto averaged = Trained(kLocalSgdEntry, workers, Averaging::kOwnBatch, Options(1));
    EXPECT_THAT(averaged, testing::Pointwise(testing::FloatNear(1e-5F), summed));
    const auto apart = Trained(kLocalSgdEntry, workers, Averaging::kOwnBatch, Options(4));
    EXPECT_NE(apart, averaged);
  }
}

TEST(PeriodicRulesTest, ImpossibleOptionsAreRefused) {
  const auto refused = [](const StrategyEntry& entry, const StrategyOptions& options) {
    const auto refusal = entry.check(options, 2, 0);
    return refusal ? refusal->key : "";
  };
  for (const StrategyEntry* entry : {&kLocalSgdEntry, &kDilocoEntry}) {
    EXPECT_EQ(refused(*entry, {}), "");
    EXPECT_EQ(refused(*entry, Options(0)), "sync-every");
  }
  EXPECT_EQ(refused(kDilocoEntry, Options(10, 0)), "outer-lr");
  EXPECT_EQ(refused(kDilocoEntry, Options(10, 0.7, 1)), "outer-momentum");
  EXPECT_EQ(refused(kDilocoEntry, Options(10, 0.7, -0.1)), "outer-momentum");
}

}  // namespace
}  // namespace ringside
