#include "ringside/paramserver/server/consistency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "ringside/paramserver/wire/refusal.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Schedule& HalvesEachStep() {
  static const Schedule schedule(
      {.kind = ScheduleOptions::Kind::kStep, .base = 1, .step_every = 1, .gamma = 0.5});
  return schedule;
}

RefusalCode CodeOf(Consistency& consistency, const PushInfo& push, std::int64_t version) {
  try {
    consistency.OnPush(push, version);
  } catch (const RefusedError& error) {
    return error.refusal().code;
  }
  ADD_FAILURE() << "the push was not refused";
  return RefusalCode::kAborted;
}

TEST(Synchronous, AppliesOnceAndAnswersAllWhenAllHavePushed) {
  const auto sync = MakeSynchronous(3, HalvesEachStep());
  EXPECT_EQ(sync->Start(0), 0);
  const PushDecision first = sync->OnPush({2, 0, 0}, 0);
  EXPECT_EQ(first.order, 2);
  EXPECT_FALSE(first.apply.has_value());
  EXPECT_THAT(first.answer, IsEmpty());
  EXPECT_THAT(sync->Missing(), ElementsAre(0, 1));
  sync->OnPush({0, 0, 0}, 0);
  const PushDecision last = sync->OnPush({1, 0, 0}, 0);
  ASSERT_TRUE(last.apply.has_value());
  EXPECT_EQ(last.apply->number, 1);
  EXPECT_EQ(last.apply->learning_rate, 1.0);
  EXPECT_THAT(last.answer, ElementsAre(0, 1, 2));
  EXPECT_THAT(sync->Missing(), ElementsAre(0, 1, 2));
}

TEST(Synchronous, FollowsTheScheduleByStep) {
  const auto sync = MakeSynchronous(1, HalvesEachStep());
  EXPECT_EQ(sync->Start(2), 2);
  const PushDecision verdict = sync->OnPush({0, 2, 2}, 2);
  EXPECT_EQ(verdict.apply->number, 3);
  EXPECT_EQ(verdict.apply->learning_rate, 0.25);
}

TEST(Synchronous, RefusesRepeatsStaleStepsAndWrongVersions) {
  const auto sync = MakeSynchronous(2, HalvesEachStep());
  sync->Start(5);
  sync->OnPush({0, 5, 5}, 5);
  EXPECT_EQ(CodeOf(*sync, {0, 5, 5}, 5), RefusalCode::kDuplicate);
  EXPECT_EQ(CodeOf(*sync, {1, 4, 5}, 5), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*sync, {1, 6, 5}, 5), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*sync, {1, 5, 4}, 5), RefusalCode::kPrecondition);
  EXPECT_THAT(sync->Missing(), ElementsAre(1));  // nothing has changed
  EXPECT_TRUE(sync->OnPush({1, 5, 5}, 5).apply.has_value());
}

TEST(Asynchronous, AppliesAndAnswersEachAtOnce) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  EXPECT_EQ(async->Start(0), 0);
  const PushDecision verdict = async->OnPush({1, 0, 0}, 0);
  EXPECT_TRUE(verdict.use_gradient);
  EXPECT_EQ(verdict.order, 0);
  EXPECT_THAT(verdict.answer, ElementsAre(1));
  EXPECT_THAT(async->Missing(), IsEmpty());
}

TEST(Asynchronous, CountsNPushesAsOneStepOfTheSchedule) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  async->Start(0);
  const std::vector<PushInfo> pushes{{0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {0, 2, 2}, {1, 1, 3}};
  const std::vector<double> rates{1, 1, 0.5, 0.5, 0.25};
  for (std::int64_t version = 0; version < 5; ++version) {
    const PushDecision verdict = async->OnPush(pushes[std::size_t(version)], version);
    EXPECT_EQ(verdict.apply->number, version + 1);
    EXPECT_EQ(verdict.apply->learning_rate, rates[std::size_t(version)]);
  }
}

TEST(Asynchronous, ResumesAtTheVersionOfTheStep) {
  const auto async = MakeAsynchronous(3, HalvesEachStep());
  EXPECT_EQ(async->Start(4), 12);
  EXPECT_EQ(async->OnPush({0, 4, 12}, 12).apply->number, 13);
}

TEST(Asynchronous, RefusesRepeatsAndVersionsThatNeverWere) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  async->Start(0);
  async->OnPush({0, 0, 0}, 0);
  EXPECT_EQ(CodeOf(*async, {0, 0, 0}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {0, 2, 1}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {1, 0, 2}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*async, {1, 0, -1}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(async->OnPush({1, 0, 0}, 1).apply->number, 2);
}

TEST(StalenessLearningRate, IsDividedByOnePlusTheStalenessInUpdates) {
  const Schedule schedule({.base = 1});
  const auto async = MakeAsynchronous(3, schedule, {.staleness_lr = true});
  async->Start(0);
  EXPECT_EQ(async->OnPush({0, 0, 0}, 0).apply->learning_rate, 1.0);
  EXPECT_EQ(async->OnPush({1, 0, 0}, 1).apply->learning_rate, 0.5);
  EXPECT_EQ(async->OnPush({0, 1, 1}, 2).apply->learning_rate, 0.5);
  EXPECT_EQ(async->OnPush({2, 0, 0}, 3).apply->learning_rate, 0.25);
}

TEST(BoundedStaleness, HoldsBackWhoWouldBeTooFarAhead) {
  const auto ssp = MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 1});
  ssp->Start(0);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, ElementsAre(0));
  EXPECT_THAT(ssp->Missing(), IsEmpty());
  const PushDecision ahead = ssp->OnPush({0, 1, 1}, 1);
  EXPECT_TRUE(ahead.apply.has_value()) << "pushes apply at once";
  EXPECT_THAT(ahead.answer, IsEmpty());
  EXPECT_THAT(ssp->Missing(), ElementsAre(1));
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 2).answer, ElementsAre(0, 1));
}

TEST(BoundedStaleness, OfZeroWaitsForAll) {
  const auto ssp = MakeAsynchronous(3, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(7);
  EXPECT_THAT(ssp->OnPush({1, 7, 21}, 21).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({0, 7, 21}, 22).answer, IsEmpty());
  EXPECT_THAT(ssp->Missing(), ElementsAre(2));
  EXPECT_THAT(ssp->OnPush({2, 7, 21}, 23).answer, ElementsAre(0, 1, 2));
}

TEST(BoundedStaleness, RefusesAPushWhileTheOneBeforeItWaits) {
  const auto ssp = MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, IsEmpty());
  EXPECT_EQ(CodeOf(*ssp, {0, 1, 1}, 1), RefusalCode::kDuplicate);
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 1).answer, ElementsAre(0, 1));
  EXPECT_THAT(ssp->OnPush({0, 1, 2}, 2).answer, IsEmpty());
}

TEST(BoundedStaleness, WaitsForNobodyWhoHasRetired) {
  const auto ssp = MakeAsynchronous(3, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 1).answer, IsEmpty());
  EXPECT_THAT(ssp->OnRetire(2, 1), ElementsAre(0, 1));
  EXPECT_THAT(ssp->OnPush({1, 1, 2}, 2).answer, IsEmpty());
  EXPECT_THAT(ssp->Missing(), ElementsAre(0)) << "not who has retired";
  EXPECT_THAT(ssp->OnRetire(0, 1), ElementsAre(1));
  EXPECT_THAT(ssp->OnPush({1, 2, 3}, 3).answer, ElementsAre(1)) << "alone";
  EXPECT_EQ(CodeOf(*ssp, {2, 0, 0}, 4), RefusalCode::kPrecondition) << "it has retired";
}

TEST(BoundedStaleness, WaitsForAllAgainOnceTheyHaveMet) {
  const auto ssp = MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  ssp->OnRetire(1, 1);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, ElementsAre(0));
  ssp->OnBarrier(1);
  EXPECT_THAT(ssp->OnPush({0, 1, 1}, 1).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({1, 0, 1}, 2).answer, ElementsAre(1)) << "it catches up";
  EXPECT_THAT(ssp->OnPush({1, 1, 3}, 3).answer, ElementsAre(0, 1));
  ssp->OnRetire(1, 2);
  ssp->OnBarrier(1);  // a late call, for the barrier before
  EXPECT_THAT(ssp->OnPush({0, 2, 4}, 4).answer, ElementsAre(0));
}

TEST(BoundedStaleness, ARetirementThatComesAfterItsBarrierCountsNoMore) {
  const auto ssp = MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  ssp->OnRetire(1, 1);
  ssp->OnBarrier(1);
  ssp->OnRetire(1, 1);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 1).answer, ElementsAre(0, 1));
}

TEST(BackupWorkers, CloseAStepWithoutTheLastAndDropIt) {
  const auto backup = MakeSynchronous(4, HalvesEachStep(), 2);
  backup->Start(0);
  EXPECT_FALSE(backup->OnPush({2, 0, 0}, 0).apply.has_value());
  const PushDecision closing = backup->OnPush({0, 0, 0}, 0);
  EXPECT_EQ(closing.apply->number, 1);
  EXPECT_EQ(closing.scale, 2.0F);
  EXPECT_THAT(closing.answer, ElementsAre(0, 2));
  const PushDecision late = backup->OnPush({3, 0, 0}, 1);
  EXPECT_FALSE(late.use_gradient);
  EXPECT_FALSE(late.apply.has_value());
  EXPECT_THAT(late.answer, ElementsAre(3));
  EXPECT_THAT(backup->Missing(), ElementsAre(0, 1, 2, 3));
}

TEST(BackupWorkers, WhoWasLateIsUsedAgainOnceItHasCaughtUp) {
  const auto backup = MakeSynchronous(2, HalvesEachStep(), 1);
  backup->Start(0);
  backup->OnPush({0, 0, 0}, 0);
  backup->OnPush({0, 1, 1}, 1);
  EXPECT_FALSE(backup->OnPush({1, 0, 0}, 2).use_gradient);
  EXPECT_FALSE(backup->OnPush({1, 1, 2}, 2).use_gradient);
  const PushDecision verdict = backup->OnPush({1, 2, 2}, 2);
  EXPECT_TRUE(verdict.use_gradient);
  EXPECT_EQ(verdict.apply->number, 3);
}

TEST(BackupWorkers, RefuseRepeatsAndStepsThatAreNotDue) {
  const auto backup = MakeSynchronous(3, HalvesEachStep(), 1);
  backup->Start(0);
  backup->OnPush({0, 0, 0}, 0);
  EXPECT_EQ(CodeOf(*backup, {0, 0, 0}, 0), RefusalCode::kDuplicate);
  EXPECT_EQ(CodeOf(*backup, {0, 1, 0}, 0), RefusalCode::kPrecondition);
  backup->OnPush({1, 0, 0}, 0);
  EXPECT_EQ(CodeOf(*backup, {2, 1, 1}, 1), RefusalCode::kPrecondition);
  EXPECT_EQ(CodeOf(*backup, {2, 0, 2}, 1), RefusalCode::kPrecondition);
  EXPECT_FALSE(backup->OnPush({2, 0, 0}, 1).use_gradient);
  EXPECT_EQ(CodeOf(*backup, {2, 0, 0}, 1), RefusalCode::kPrecondition);
}

TEST(DroppedWorker, WakesWhoeverWaitedForIt) {
  const auto ssp = MakeAsynchronous(3, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 1).answer, IsEmpty());
  const PushDecision dropped = ssp->OnDrop(2);
  EXPECT_FALSE(dropped.apply.has_value());
  EXPECT_THAT(dropped.answer, ElementsAre(0, 1));
  EXPECT_THAT(ssp->OnPush({0, 1, 2}, 2).answer, IsEmpty()) << "the bound holds for the others";
  EXPECT_THAT(ssp->Missing(), ElementsAre(1));
  EXPECT_EQ(CodeOf(*ssp, {2, 0, 0}, 3), RefusalCode::kDropped);
  ssp->OnBarrier(1);
  EXPECT_EQ(CodeOf(*ssp, {2, 0, 0}, 3), RefusalCode::kDropped) << "for ever";
  EXPECT_THAT(ssp->OnPush({1, 1, 2}, 3).answer, ElementsAre(0, 1));
}

TEST(DroppedWorker, GetsNoAnswerItself) {
  const auto ssp = MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 0});
  ssp->Start(0);
  EXPECT_THAT(ssp->OnPush({0, 0, 0}, 0).answer, IsEmpty());
  EXPECT_THAT(ssp->OnDrop(0).answer, IsEmpty());
  EXPECT_THAT(ssp->OnPush({1, 0, 0}, 1).answer, ElementsAre(1));
}

TEST(DroppedWorker, OfAsynchronousServersIsRefused) {
  const auto async = MakeAsynchronous(2, HalvesEachStep());
  async->Start(0);
  async->OnPush({1, 0, 0}, 0);
  EXPECT_THAT(async->OnDrop(1).answer, IsEmpty());
  EXPECT_EQ(CodeOf(*async, {1, 1, 1}, 1), RefusalCode::kDropped);
  EXPECT_EQ(async->OnPush({0, 0, 0}, 1).apply->number, 2);
}

TEST(DroppedWorker, IsNoLongerNeededToCloseAStep) {
  const auto backup = MakeSynchronous(4, HalvesEachStep(), 1);
  backup->Start(0);
  EXPECT_FALSE(backup->OnDrop(3).apply.has_value()) << "no step is open";
  backup->OnPush({0, 0, 0}, 0);
  backup->OnPush({1, 0, 0}, 0);
  EXPECT_THAT(backup->Missing(), ElementsAre(2));
  EXPECT_EQ(CodeOf(*backup, {3, 0, 0}, 0), RefusalCode::kDropped);
  const PushDecision closing = backup->OnDrop(2);
  ASSERT_TRUE(closing.apply.has_value());
  EXPECT_EQ(closing.apply->number, 1);
  EXPECT_EQ(closing.scale, 2.0F) << "two of four gradients";
  EXPECT_THAT(closing.answer, ElementsAre(0, 1));
  EXPECT_FALSE(backup->OnPush({0, 1, 1}, 1).apply.has_value());
  EXPECT_TRUE(backup->OnPush({1, 1, 1}, 1).apply.has_value());
}

TEST(DroppedWorker, LeavesASpareWorkerSpare) {
  const auto backup = MakeSynchronous(4, HalvesEachStep(), 2);
  backup->Start(0);
  backup->OnDrop(3);
  EXPECT_FALSE(backup->OnPush({0, 0, 0}, 0).apply.has_value());
  const PushDecision closing = backup->OnPush({2, 0, 0}, 0);
  ASSERT_TRUE(closing.apply.has_value()) << "two of the three others are enough";
  EXPECT_EQ(closing.scale, 2.0F);
  EXPECT_FALSE(backup->OnPush({1, 0, 0}, 1).use_gradient);
}

TEST(DroppedWorker, MakesNoOtherWorkerLate) {
  const auto backup = MakeSynchronous(2, HalvesEachStep(), 0);
  backup->Start(0);
  backup->OnPush({1, 0, 0}, 0);
  EXPECT_FALSE(backup->OnDrop(1).apply.has_value()) << "worker 0 has not pushed";
  const PushDecision closing = backup->OnPush({0, 0, 0}, 0);
  EXPECT_TRUE(closing.use_gradient);
  ASSERT_TRUE(closing.apply.has_value());
  EXPECT_EQ(closing.scale, 1.0F) << "both gradients are in the sum";
}

void ExpectNothingAfterTheLastIsDropped(Consistency& consistency) {
  consistency.Start(0);
  for (const int worker : {0, 1, 1}) {
    const PushDecision verdict = consistency.OnDrop(worker);
    EXPECT_FALSE(verdict.apply.has_value());
    EXPECT_THAT(verdict.answer, IsEmpty());
  }
  EXPECT_THAT(consistency.Missing(), IsEmpty());
  EXPECT_EQ(CodeOf(consistency, {0, 0, 0}, 0), RefusalCode::kDropped);
}

TEST(DroppedWorker, MayBeTheLast) {
  ExpectNothingAfterTheLastIsDropped(*MakeSynchronous(2, HalvesEachStep(), 1));
  ExpectNothingAfterTheLastIsDropped(
      *MakeAsynchronous(2, HalvesEachStep(), {.staleness_bound = 0}));
}

/// Workers that push in random order to one shard, some of them much faster than others. Everything
/// that a shard does follows from the verdicts.
class RandomOrder {
 public:
  static constexpr std::int64_t kSteps = 30;

  /// Worker w makes kSteps + w * more_steps and retires then.
  RandomOrder(Consistency& consistency, int workers, unsigned seed, int more_steps = 0)
      : consistency_(consistency),
        random_(seed),
        steps_(static_cast<std::size_t>(workers), 0),
        limits_(steps_),
        versions_(steps_),
        waiting_(static_cast<std::size_t>(workers), 0) {
    version_ = consistency.Start(0);
    std::ranges::fill(versions_, version_);
    for (std::size_t worker = 0; worker < limits_.size(); ++worker) {
      limits_[worker] = kSteps + std::int64_t(worker) * more_steps;
    }
  }

  /// Runs until all workers have made all steps. False: no worker can go on, and some are not done.
  bool Run(const std::function<void(const PushInfo&, const PushDecision&)>& pushed,
           const std::function<void(int worker)>& answered) {
    while (const auto worker = SomebodyWhoCanPush()) {
      const auto w = static_cast<std::size_t>(*worker);
      const PushInfo push{*worker, steps_[w], versions_[w]};
      const PushDecision verdict = consistency_.OnPush(push, version_);
      ++steps_[w];
      waiting_[w] = 1;
      if (verdict.apply) ++version_;
      pushed(push, verdict);
      Answer(verdict.answer, answered);
    }
    return std::ranges::count(waiting_, 1) == 0 && steps_ == limits_;
  }

  bool done(std::size_t worker) const {
    return waiting_[worker] == 0 && steps_[worker] == limits_[worker];
  }

  const std::vector<std::int64_t>& steps() const { return steps_; }
  std::int64_t version() const { return version_; }

 private:
  void Answer(std::span<const int> workers, const std::function<void(int worker)>& answered) {
    // The next call overwrites the span.
    for (const int each : std::vector<int>(workers.begin(), workers.end())) {
      EXPECT_EQ(std::exchange(waiting_[std::size_t(each)], 0), 1) << "answered without a push";
      versions_[std::size_t(each)] = version_;
      answered(each);
      if (done(std::size_t(each))) Answer(consistency_.OnRetire(each, 1), answered);
    }
  }

  std::optional<int> SomebodyWhoCanPush() {
    std::vector<double> speeds;
    for (std::size_t worker = 0; worker < steps_.size(); ++worker) {
      const bool can = waiting_[worker] == 0 && steps_[worker] < limits_[worker];
      speeds.push_back(can ? 1.0 / static_cast<double>(1 + worker * worker) : 0);
    }
    if (std::ranges::count(speeds, 0) == std::ssize(speeds)) return std::nullopt;
    return std::discrete_distribution<int>(speeds.begin(), speeds.end())(random_);
  }

  Consistency& consistency_;
  std::mt19937 random_;
  std::int64_t version_ = 0;
  std::vector<std::int64_t> steps_;     // pushed, by worker
  std::vector<std::int64_t> limits_;    // that each worker makes
  std::vector<std::int64_t> versions_;  // of each worker's parameters
  std::vector<int> waiting_;            // 1: pushed and not answered
};

/// Workers, and the staleness bound or the number of backups.
class RandomOrders : public ::testing::TestWithParam<std::tuple<int, int, unsigned>> {
 protected:
  int workers() const { return std::get<0>(GetParam()); }
  int relaxed_by() const { return std::get<1>(GetParam()); }
  unsigned seed() const { return std::get<2>(GetParam()); }
};

TEST_P(RandomOrders, NeverExceedTheStalenessBoundAndNeverDeadlock) {
  const auto ssp = MakeAsynchronous(workers(), HalvesEachStep(), {.staleness_bound = relaxed_by()});
  RandomOrder order(*ssp, workers(), seed());
  const auto pushed = [&](const PushInfo& push, const PushDecision& verdict) {
    ASSERT_TRUE(verdict.apply.has_value());
    // Between a read and its push every other worker makes at most 2s + 1 updates.
    ASSERT_LE(order.version() - 1 - push.version, (workers() - 1) * (2 * relaxed_by() + 1));
    if (verdict.answer.empty()) {
      ASSERT_THAT(ssp->Missing(), ::testing::Not(::testing::Contains(push.worker)));
    }
  };
  const auto answered = [&](int worker) {
    const std::int64_t clock = order.steps()[std::size_t(worker)];
    ASSERT_GE(std::ranges::min(order.steps()), clock - relaxed_by());
  };
  EXPECT_TRUE(order.Run(pushed, answered));
  EXPECT_EQ(order.version(), workers() * RandomOrder::kSteps);
}

TEST_P(RandomOrders, OfUnevenStepCountsEndWithinTheBoundOfThoseThatGoOn) {
  const auto ssp = MakeAsynchronous(workers(), HalvesEachStep(), {.staleness_bound = relaxed_by()});
  RandomOrder order(*ssp, workers(), seed(), /*more_steps=*/5);
  const auto answered = [&](int worker) {
    const std::int64_t clock = order.steps()[std::size_t(worker)];
    for (std::size_t other = 0; other < order.steps().size(); ++other) {
      if (order.done(other)) continue;
      ASSERT_GE(order.steps()[other], clock - relaxed_by());
    }
  };
  EXPECT_TRUE(order.Run([](const PushInfo&, const PushDecision&) {}, answered));
}

/// Some worker is no backup.
class RandomOrdersWithBackups : public RandomOrders {};

TEST_P(RandomOrdersWithBackups, UseAllButTheBackupsOfEveryStepOnce) {
  const auto backup = MakeSynchronous(workers(), HalvesEachStep(), relaxed_by());
  RandomOrder order(*backup, workers(), seed());
  std::vector<int> used(RandomOrder::kSteps, 0);
  std::int64_t dropped = 0;
  const auto pushed = [&](const PushInfo& push, const PushDecision& verdict) {
    if (!verdict.use_gradient) {
      ++dropped;
      return;
    }
    ++used[std::size_t(push.step)];
    const std::int64_t applied = verdict.apply ? order.version() - 1 : order.version();
    ASSERT_EQ(push.version, applied) << "an old gradient was used";
    ASSERT_EQ(push.step, applied) << "a gradient of another step was used";
  };
  EXPECT_TRUE(order.Run(pushed, [](int) {}));
  EXPECT_THAT(used, ::testing::Each(workers() - relaxed_by()));
  EXPECT_EQ(dropped, relaxed_by() * RandomOrder::kSteps);
  EXPECT_EQ(order.version(), RandomOrder::kSteps);
}

std::vector<std::tuple<int, int, unsigned>> Settings(bool fewer_than_workers) {
  std::vector<std::tuple<int, int, unsigned>> settings;
  for (const int workers : {1, 2, 3, 7}) {
    for (const int relaxed_by : {0, 1, 2, 5}) {
      if (fewer_than_workers && relaxed_by >= workers) continue;
      for (unsigned seed = 0; seed < 8; ++seed) settings.emplace_back(workers, relaxed_by, seed);
    }
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrders,
                         ::testing::ValuesIn(Settings(/*fewer_than_workers=*/false)));
INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrdersWithBackups,
                         ::testing::ValuesIn(Settings(/*fewer_than_workers=*/true)));

TEST(GivenRates, CountInsteadOfTheSchedule) {
  const Schedule schedule({.base = 1});
  const auto sync = MakeSynchronous(2, schedule);
  sync->Start(0);
  sync->OnPush({0, 0, 0, 0.25}, 0);
  EXPECT_EQ(sync->OnPush({1, 0, 0, 0.25}, 0).apply->learning_rate, 0.25);
  sync->OnPush({0, 1, 1, 0.0}, 1);
  EXPECT_EQ(sync->OnPush({1, 1, 1, 0.0}, 1).apply->learning_rate, 0);
  const auto async = MakeAsynchronous(2, schedule, {});
  async->Start(0);
  EXPECT_EQ(async->OnPush({0, 0, 0, 0.5}, 0).apply->learning_rate, 0.5);
  EXPECT_EQ(async->OnPush({1, 0, 0}, 1).apply->learning_rate, 1);
}

}  // namespace
}  // namespace ringside
