// Bounded staleness and backup workers over real servers, with workers that are delayed at random:
// every gradient leaves a mark of its own in the parameters, so that what a worker reads tells
// exactly which updates are in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <random>
#include <semaphore>
#include <thread>
#include <tuple>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

constexpr int kSteps = 12;

/// Lets the others run for a random while, now and then a long one.
class RandomDelay {
 public:
  explicit RandomDelay(int rank) : random_(static_cast<unsigned>(rank) + 1) {}
  void operator()() {
    const unsigned yields = random_() % 8 == 0 ? 3000 : random_() % 50;
    for (unsigned i = 0; i < yields; ++i) std::this_thread::yield();
  }

 private:
  std::mt19937 random_;
};

/// Workers, servers, and the staleness bound or the number of backups.
class RelaxedWorlds : public ::testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  int workers() const { return std::get<0>(GetParam()); }
  int relaxed_by() const { return std::get<2>(GetParam()); }

  /// `buckets` of so many elements.
  ClusterOptions Options(const StrategyEntry& entry, int bucket_elements, int buckets) const {
    ClusterOptions options{.entry = &entry,
                           .workers = workers(),
                           .servers = std::get<1>(GetParam()),
                           .elements = static_cast<std::size_t>(bucket_elements * buckets),
                           .target_bytes = static_cast<std::size_t>(bucket_elements) * 4};
    options.strategy.Set(kStaleness, relaxed_by());
    options.strategy.Set(kBackups, relaxed_by());
    return options;
  }
};

class BoundedStaleness : public RelaxedWorlds {};

/// Every worker subtracts 1 from its own element of each bucket. The last one begins when the first
/// is as far ahead as the bound lets it be.
TEST_P(BoundedStaleness, IsNeverExceeded) {
  constexpr int kBucket = 16;
  PsCluster cluster(Options(kPsSspEntry, kBucket, 3));
  std::atomic<std::int64_t> staleness_counted = 0;
  const int held_back = workers() > 1 && relaxed_by() > 0 ? workers() - 1 : -1;
  std::binary_semaphore ahead{0};
  cluster.Run([&](TestWorker& worker) {
    RandomDelay delay(worker.world.rank);
    worker.FillGradients(0);
    for (std::size_t i = 0; i < worker.space.size(); i += kBucket) {
      worker.space.grads()[i + std::size_t(worker.world.rank)] = 1;
    }
    if (worker.world.rank == held_back) {
      ASSERT_TRUE(ahead.try_acquire_for(cluster.options().timeout)) << "nobody came ahead";
    }
    for (int clock = 1; clock <= kSteps; ++clock) {
      delay();
      worker.Step(clock - 1);
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        const int other = static_cast<int>(i % kBucket);
        if (other >= workers()) continue;
        const auto updates = static_cast<int>(-worker.space.params()[i]);
        ASSERT_GE(updates, clock - relaxed_by()) << "of worker " << other << " at " << clock;
        ASSERT_LE(updates, clock + relaxed_by() + 1) << "of worker " << other << " at " << clock;
      }
      if (held_back > 0 && worker.world.rank == 0 && clock == relaxed_by()) {
        EXPECT_EQ(worker.space.params()[std::size_t(held_back)], 0) << "it is not behind";
        ahead.release();
      }
    }
    worker.strategy->Settle();
    for (int other = 0; other < workers(); ++other) {
      ASSERT_EQ(worker.space.params()[std::size_t(other)], -kSteps);
    }
    for (const auto& [versions, count] : worker.recorder.staleness()) {
      EXPECT_LE(versions, (workers() - 1) * (2 * relaxed_by() + 1));
      staleness_counted += count;
    }
  });
  EXPECT_EQ(staleness_counted, workers() * kSteps * 3);
}

INSTANTIATE_TEST_SUITE_P(All, BoundedStaleness,
                         ::testing::Combine(::testing::Values(1, 2, 4), ::testing::Values(1, 2),
                                            ::testing::Values(0, 1, 4)));

class UnevenStepCounts : public ::testing::TestWithParam<std::string> {};

/// Worker w makes w more steps than worker 0 before each settle; all marks are there afterwards,
/// and who is behind after one holds the others back again.
TEST_P(UnevenStepCounts, EndWithoutATimeout) {
  ClusterOptions options{.entry = &kPsSspEntry, .workers = 3, .servers = 2};
  options.strategy.Set(kStaleness, 1);
  options.strategy.Set(kPsTransport, GetParam());
  PsCluster cluster(options);
  std::barrier compared(options.workers);  // before anybody goes on: pushes are seen at once
  cluster.Run([&](TestWorker& worker) {
    const int rank = worker.world.rank;
    RandomDelay delay(rank);
    std::int64_t step = 0;
    for (int round = 1; round <= 3; ++round) {
      worker.FillGradients(1);
      for (int i = 0; i < 4 + rank * 3; ++i) {
        delay();
        worker.Step(step++);
      }
      worker.strategy->Settle();
      EXPECT_THAT(worker.space.params(), ::testing::Each(-round * (4 + 7 + 10)));
      compared.arrive_and_wait();
    }
    worker.FillGradients(0);
    for (int i = 0; i < rank; ++i) worker.Step(step++);  // and straight to the end
  });
}

INSTANTIATE_TEST_SUITE_P(All, UnevenStepCounts, ::testing::Values("grpc", "tcp", "shm"));

class BackupWorkers : public RelaxedWorlds {};

/// Worker w subtracts 1 from element w + N t of each bucket in step t.
TEST_P(BackupWorkers, UseEveryGradientAtMostOnceAndCountTheDropped) {
  const int used_per_step = workers() - relaxed_by();
  const auto scale = static_cast<float>(workers()) / static_cast<float>(used_per_step);
  const int bucket = 16 * ((workers() * kSteps + 15) / 16);
  PsCluster cluster(Options(kPsBackupEntry, bucket, 2));
  std::atomic<std::int64_t> dropped = 0;
  cluster.Run([&](TestWorker& worker) {
    RandomDelay delay(worker.world.rank);
    const auto at = [&](std::size_t begin, int rank, int step) {
      return begin + std::size_t(rank + workers() * step);
    };
    for (int step = 0; step < kSteps; ++step) {
      delay();
      worker.FillGradients(0);
      for (const std::size_t begin : {std::size_t{0}, std::size_t(bucket)}) {
        worker.space.grads()[at(begin, worker.world.rank, step)] = 1;
      }
      worker.Step(step);
    }
    worker.strategy->Settle();
    std::int64_t used_of_mine = 0;
    for (const std::size_t begin : {std::size_t{0}, std::size_t(bucket)}) {
      for (int step = 0; step < kSteps; ++step) {
        int used = 0;
        for (int rank = 0; rank < workers(); ++rank) {
          const float value = worker.space.params()[at(begin, rank, step)];
          ASSERT_TRUE(value == 0 || value == -scale) << value;
          used += value == 0 ? 0 : 1;
          if (rank == worker.world.rank && value != 0) ++used_of_mine;
        }
        ASSERT_EQ(used, used_per_step) << "step " << step;
      }
    }
    EXPECT_EQ(worker.recorder.dropped_pushes(), std::int64_t{2} * kSteps - used_of_mine);
    EXPECT_EQ(worker.recorder.facts().at("awaited_pushes"), used_per_step);
    dropped += worker.recorder.dropped_pushes();
  });
  std::int64_t reported = 0;
  for (int server = 0; server < cluster.options().servers; ++server) {
    reported += cluster.server(server).Stop().dropped_pushes;
  }
  EXPECT_EQ(dropped, 2 * kSteps * relaxed_by());
  EXPECT_EQ(reported, dropped);
}

INSTANTIATE_TEST_SUITE_P(OneBackup, BackupWorkers,
                         ::testing::Combine(::testing::Values(2, 3, 4), ::testing::Values(1, 2),
                                            ::testing::Values(0, 1)));
INSTANTIATE_TEST_SUITE_P(AllButOne, BackupWorkers, ::testing::Values(std::tuple{4, 2, 3}));

TEST(BoundedStalenessFailure, NamesWhoIsWaitedFor) {
  ClusterOptions options{
      .entry = &kPsSspEntry, .workers = 3, .timeout = std::chrono::milliseconds(500)};
  options.strategy.Set(kStaleness, 2);
  PsCluster cluster(options);
  cluster.comm().start_timeout = std::chrono::seconds(30);
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    if (worker.world.rank == 1) return;  // leaves without a push
    for (int step = 0; step < 4; ++step) worker.Step(step);
  });
  EXPECT_EQ(outcomes.failures(), 2);
  for (const int rank : {0, 2}) {
    try {
      std::rethrow_exception(outcomes.by_rank[std::size_t(rank)]);
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1") << error.what();
      EXPECT_THAT(error.what(), ::testing::HasSubstr("waits for it in step 2"));
    }
  }
}

}  // namespace
}  // namespace ringside
