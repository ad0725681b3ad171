// Tests the promises of every strategy, with threads as ranks and servers in this process:
// integer-valued gradients and a learning rate that is a power of two make every sum exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "tests/common/comm_error.h"
#include "tests/experiments/strategy_conformance_testing.h"

namespace ringside::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(StrategyConformanceTest, EndsWithTheExactSumOfAllUpdates) {
  const auto n = static_cast<std::size_t>(workers());
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1}) {
    CheckTrajectory(elements);
  }
}

TEST_P(StrategyConformanceTest, EndsWithTheExactSumOfAllUpdatesOverManyBuckets) {
  CheckTrajectory(100'000);
}

/// Strategies that can leave the update to their caller, which then do.
class LeavesSumsTest : public StrategyConformanceTest {};

TEST_P(LeavesSumsTest, TheSumIsInTheGradientsAndNothingElseChanges) {
  constexpr std::size_t kElements = 20'000;
  Job job(GetParam(), {.momentum = 0.5});
  const bool alone = entry().traits.agreement == Agreement::kNone;
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, kElements);
    worker.Start();
    for (std::int64_t step = 0; step < kSteps; ++step) {
      worker.Step(step);
      worker.AwaitAll(step);
      for (std::size_t i = 0; i < kElements; ++i) {
        float sum = 0;
        for (int each = 0; each < workers(); ++each) {
          if (!alone || each == rank) sum += GradientOf(each, step, i);
        }
        ASSERT_EQ(worker.space().grads()[i], sum) << "rank " << rank << ", element " << i;
        ASSERT_EQ(worker.space().params()[i], InitialOf(alone ? rank : 0, i));
      }
    }
    worker.Settle(kSteps);
    for (const float value : worker.optimizer().state()) ASSERT_EQ(value, 0);
    worker.strategy().Stop();
  });
}

TEST(StrategyTest, WhatUpdatesItselfRefusesACallerThatDoes) {
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    if (entry.traits.ranks != Ranks::kAnywhere) continue;
    Setting setting{&entry, 1, entry.traits.has_servers() ? 1 : 0, LosingNothing(entry)};
    setting.caller_updates = true;
    const bool servers_update = entry.traits.has_servers();
    Job job(setting);
    if (entry.traits.leaves_sums && !servers_update) {
      EXPECT_NO_THROW(Worker(job, 0, 10)) << entry.name;
    } else {
      EXPECT_THROW(Worker(job, 0, 10), ConfigError) << entry.name;
    }
  }
}

/// Strategies whose optimizer state does not depend on the order in which updates arrive.
class SynchronousStrategyTest : public StrategyConformanceTest {};

TEST_P(SynchronousStrategyTest, RestoresAndReadsTheOptimizerState) {
  constexpr std::size_t kElements = 1000;
  Job job(GetParam(), {.momentum = 0.5});
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, kElements);
    std::vector<float> state(worker.optimizer().state_size(), 8.0F);
    worker.Start({.step = 4, .optimizer_state = state});
    worker.Step(4);
    worker.Settle(5);
    if (rank == 0) {
      worker.strategy().ReadOptimizerState(state);
      for (std::size_t i = 0; i < kElements; ++i) {
        float expected = 4;
        for (int each = 0; each < workers(); ++each) expected += GradientOf(each, 4, i);
        ASSERT_EQ(state[i], expected) << i;
      }
    }
    worker.strategy().Stop();
  });
}

/// Several workers, of any consistency, who start together.
class StartTogetherTest : public StrategyConformanceTest {};

TEST_P(StartTogetherTest, NamesTheWorkerWhoseBucketPlanDiffers) {
  Job job(GetParam());
  const RankOutcomes outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, rank == 1 ? 999 : 1000);
    worker.Start();
  });
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    const CommError error = CommErrorOf(failure);
    EXPECT_EQ(error.peer(), "worker 1") << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("999"));
    EXPECT_THAT(error.what(), testing::HasSubstr("1000"));
  }
}

TEST_P(StartTogetherTest, NamesTheWorkersThatStartAtAnotherStep) {
  Job job(GetParam());
  const RankOutcomes outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 1000);
    worker.Start({.step = rank == 0 ? 4 : 6});
  });
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    const CommError error = CommErrorOf(failure);
    EXPECT_EQ(error.peer(), workers() == 2 ? "worker 1" : "workers 1, 2") << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("step 6, worker 0 has step 4"));
  }
}

/// Several workers that wait for each other.
class WaitingStrategyTest : public StrategyConformanceTest {};

/// Throws what `steps` throw. Before that it makes every other call, right and wrong ones.
void ExpectTheSameFromAllCalls(Worker& worker, const std::function<void()>& steps) {
  const auto text_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const CommError& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string("no CommError, but: ") + error.what();
    }
    return "no error";
  };
  try {
    steps();
  } catch (const CommError& error) {
    Strategy& strategy = worker.strategy();
    Bucket wrong = worker.BucketOf(1, 1);
    wrong.index = worker.buckets();
    std::vector<float> state(worker.optimizer().state_size());
    EXPECT_EQ(text_of([&] { strategy.Submit(worker.BucketOf(1, 1)); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Submit(wrong); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Await(worker.BucketOf(1, 1)); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Await(wrong); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Settle(); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.ReadOptimizerState(state); }), error.what());
    EXPECT_EQ(text_of([&] { worker.StartAgain(); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Stop(); }), error.what());
    throw;
  }
}

TEST_P(WaitingStrategyTest, DestructionWithoutStopEndsAndFailsThePeers) {
  Job job(GetParam(), {}, 2s);  // a server cannot tell a worker that left from a slow one before
  const auto outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 1000);
    worker.Start();
    worker.Step(0);
    worker.AwaitAll(1);
    if (rank == 0) return;
    ExpectTheSameFromAllCalls(worker, [&] {
      worker.Step(1);
      worker.AwaitAll(2);
    });
  });
  EXPECT_EQ(outcomes.failures(), workers() - 1);
  for (const auto& failure : outcomes.by_rank) {
    if (failure == nullptr) continue;
    EXPECT_THROW(std::rethrow_exception(failure), CommError);
  }
}

/// Trains until a rank's gradient of the first parameter in step 1 is not `GradientOf`. Expects
/// that all ranks end, at least one of them with a `DivergedError`, and that no parameter is
/// changed by a value that is not finite.
void ExpectDivergence(const Setting& setting,
                      const std::function<std::optional<float>(int rank)>& gradient) {
  Job job(setting, {}, 2s);
  const RankOutcomes outcomes = TryRanks(setting.workers, [&](int rank) {
    Worker worker(job, rank, 1000);
    worker.Start();
    worker.Step(0);
    try {
      worker.Step(1, gradient(rank));
      worker.Settle(2);
    } catch (const Error&) {
      worker.DropStrategy();
      EXPECT_TRUE(std::ranges::all_of(worker.space().params(),
                                      [](float value) { return std::isfinite(value); }));
      throw;
    }
  });
  EXPECT_EQ(outcomes.failures(), setting.workers);
  int diverged = 0;
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    try {
      if (failure != nullptr) std::rethrow_exception(failure);
    } catch (const DivergedError&) {
      ++diverged;
    } catch (const CommError&) {
      // It learned from the others that the job is over.
    }
  }
  EXPECT_GE(diverged, 1);
}

TEST_P(WaitingStrategyTest, ASumThatOverflowsEndsAllRanksAsDiverged) {
  ExpectDivergence(GetParam(), [](int rank) -> std::optional<float> {
    if (rank < 2) return 3e38F;
    return std::nullopt;
  });
}

/// Several workers with servers, of any consistency.
class WithServersTest : public StrategyConformanceTest {};

TEST_P(WithServersTest, AGradientThatIsNotFiniteEndsAllRanksAsDiverged) {
  ExpectDivergence(GetParam(), [](int rank) -> std::optional<float> {
    if (rank == 1) return std::numeric_limits<float>::infinity();
    return std::nullopt;
  });
}

/// Several workers.
class SubmitTest : public StrategyConformanceTest {};

// Rank 0 submits a whole step before any other rank submits a bucket of it: they begin when it has
// told them that all its submits have returned.
TEST_P(SubmitTest, NeverWaitsForAnotherRank) {
  Job job(GetParam());
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 100'000);
    worker.Start();
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::string told = "submitted " + std::to_string(step);
      worker.AwaitAll(step);
      if (rank != 0) job.store.Get(told, Deadline::After(job.comm.timeout));
      worker.Step(step);
      if (rank == 0) job.store.Set(told, "");
    }
    worker.Settle(kSteps);
    worker.strategy().Stop();
  });
}

bool Any(const Setting&) { return true; }
bool IsSynchronous(const Setting& setting) { return setting.entry->traits.synchronous(); }
bool StartTogether(const Setting& setting) {
  return setting.entry->traits.family != Family::kNone &&
         (setting.workers == 2 || setting.workers == 3);
}
bool HasServers(const Setting& setting) {
  return setting.entry->traits.has_servers() && setting.workers > 1;
}
bool HasPeers(const Setting& setting) { return setting.workers > 1; }
bool Waits(const Setting& setting) { return IsSynchronous(setting) && setting.workers > 1; }

std::vector<Setting> SettingsThatLeaveSums() {
  std::vector<Setting> settings =
      Settings([](const Setting& setting) { return setting.entry->traits.leaves_sums; });
  for (Setting& setting : settings) {
    setting.caller_updates = true;
    if (setting.entry->traits.has_servers()) setting.options.Set(kServerUpdate, false);
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Table, StrategyConformanceTest, testing::ValuesIn(Settings(Any)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, LeavesSumsTest, testing::ValuesIn(SettingsThatLeaveSums()), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, SynchronousStrategyTest, testing::ValuesIn(Settings(IsSynchronous)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Table, StartTogetherTest, testing::ValuesIn(Settings(StartTogether)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Table, WithServersTest, testing::ValuesIn(Settings(HasServers)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, SubmitTest, testing::ValuesIn(Settings(HasPeers)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, WaitingStrategyTest, testing::ValuesIn(Settings(Waits)), NameOf);

TEST(CatalogTest, EveryStrategyIsFoundAndTellsWhatItIs) {
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    EXPECT_EQ(TestCatalog().FindStrategy(entry.name), &entry);
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_NE(entry.bound, nullptr) << entry.name;
    EXPECT_EQ(entry.traits.topology == Topology::kNone, entry.transport == nullptr) << entry.name;
    EXPECT_EQ(entry.traits.topology == Topology::kServers, entry.traits.has_servers())
        << entry.name;
    EXPECT_EQ(entry.traits.agreement == Agreement::kPeriodic, entry.steps_per_sum != nullptr)
        << entry.name;
  }
  EXPECT_EQ(TestCatalog().FindStrategy("no such strategy"), nullptr);
}

}  // namespace
}  // namespace ringside::conformance
