#include "ringside/paramserver/worker/ps_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <tuple>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/comm_error.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::vector<float> Copy(std::span<const float> values) { return {values.begin(), values.end()}; }

/// Parameters 0, 1, 2 ... on rank 0 and rubbish elsewhere.
void FillParameters(TestWorker& worker) {
  const std::span<float> params = worker.space.params();
  std::iota(params.begin(), params.end(), 0.0F);
  if (worker.world.rank != 0) std::ranges::fill(params, -1.0F);
}

class Worlds : public ::testing::TestWithParam<std::tuple<int, int, std::size_t>> {
 protected:
  ClusterOptions Options(const StrategyEntry& entry) const {
    const auto [workers, servers, elements] = GetParam();
    return {.entry = &entry,
            .workers = workers,
            .servers = servers,
            .elements = elements,
            .target_bytes = std::max<std::size_t>(64, elements * sizeof(float) / 7)};
  }
};

TEST_P(Worlds, SynchronousFollowsTheSumExactly) {
  PsCluster cluster(Options(kPsSyncEntry));
  const int workers = cluster.options().workers;
  cluster.Run([&](TestWorker& worker) {
    for (int step = 0; step < 3; ++step) {
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        worker.space.grads()[i] = static_cast<float>((i + 1) % 97 + std::size_t(worker.world.rank));
      }
      worker.Step(step);
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        const int sum = workers * static_cast<int>((i + 1) % 97) + workers * (workers - 1) / 2;
        ASSERT_EQ(worker.space.params()[i], static_cast<float>(-(step + 1) * sum)) << i;
      }
    }
    const std::vector<float> before = Copy(worker.space.params());
    worker.strategy->Settle();
    EXPECT_EQ(Copy(worker.space.params()), before);
  });
}

TEST_P(Worlds, StartBringsTheParametersOfRankZero) {
  for (const StrategyEntry* entry : {&kPsSyncEntry, &kPsAsyncEntry}) {
    PsCluster cluster(Options(*entry));
    const auto check = [](TestWorker& worker) {
      FillParameters(worker);
      worker.strategy->Start(worker.space, worker.plan, {});
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        ASSERT_EQ(worker.space.params()[i], static_cast<float>(i));
      }
      worker.strategy->Stop();
    };
    const RankOutcomes outcomes = cluster.TryRun(check);
    EXPECT_EQ(outcomes.failures(), 0) << CommErrorOf(outcomes.first).what();
  }
}

TEST_P(Worlds, AsynchronousAppliesEveryPushAndSettlesOnOneAnswer) {
  PsCluster cluster(Options(kPsAsyncEntry));
  const ClusterOptions& options = cluster.options();
  std::mutex mutex;
  std::int64_t pushes = 0;
  cluster.Run([&](TestWorker& worker) {
    worker.FillGradients(1);
    for (int step = 0; step < 4; ++step) worker.Step(step);
    worker.strategy->Settle();
    const auto expected = static_cast<float>(-4 * options.workers);
    for (const float value : worker.space.params()) ASSERT_EQ(value, expected);
    const std::lock_guard lock(mutex);
    for (const auto& [versions, count] : worker.recorder.staleness()) pushes += count;
  });
  std::int64_t reported = 0, updates = 0;
  for (int server = 0; server < options.servers; ++server) {
    const ServerReport report = cluster.server(server).Stop();
    for (const auto& [versions, count] : report.staleness) reported += count;
    updates += report.updates;
  }
  EXPECT_EQ(reported, pushes);
  EXPECT_EQ(updates, pushes);
  EXPECT_EQ(pushes, 4 * options.workers * cluster.MakeWorker(0)->plan.buckets());
}

INSTANTIATE_TEST_SUITE_P(All, Worlds,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(1, 2, 3),
                                            ::testing::Values(0, 1, 100'000)));

TEST(PsSync, TwiceIsBitwiseTheSame) {
  std::vector<float> first;
  for (int run = 0; run < 3; ++run) {
    PsCluster cluster({.workers = 4, .servers = 2, .elements = 50'000, .target_bytes = 20'000});
    cluster.Run([&](TestWorker& worker) {
      for (int step = 0; step < 3; ++step) {
        for (std::size_t i = 0; i < worker.space.size(); ++i) {
          const auto x =
              static_cast<float>(i % 1013) + static_cast<float>(worker.world.rank) * 0.3F;
          worker.space.grads()[i] = 1.0F / (x + 0.7F);
        }
        worker.Step(step);
      }
      if (worker.world.rank != 0) return;
      if (run == 0) first = Copy(worker.space.params());
      EXPECT_EQ(Copy(worker.space.params()), first) << "run " << run;
    });
  }
}

/// More data than may be unsent or unanswered at once. The other worker sends in the opposite
/// order, so that a bucket which leaves late must not wait for ever for the answer to one that left
/// early.
TEST(PsSync, WorkersMayPushInOppositeOrders) {
  struct Sizes {
    std::size_t buckets, bytes;
    SendOrder order;
  };
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const Sizes& sizes : {Sizes{4, 6 * kMiB, SendOrder::kFifo},
                             {4, 6 * kMiB, SendOrder::kPriority},
                             {24, kMiB / 2, SendOrder::kFifo}}) {
    ClusterOptions options{.elements = sizes.buckets * sizes.bytes / sizeof(float),
                           .target_bytes = sizes.bytes};
    options.strategy.order = sizes.order;
    PsCluster cluster(options);
    cluster.Run([](TestWorker& worker) {
      worker.FillGradients(1);
      const int buckets = worker.plan.buckets();
      for (int i = 0; i < buckets; ++i) {
        worker.Submit(worker.world.rank == 0 ? i : buckets - 1 - i, 0);
      }
      for (int bucket = 0; bucket < buckets; ++bucket) worker.Await(bucket, 0);
      EXPECT_EQ(worker.space.params().front(), -2);
      EXPECT_EQ(worker.space.params().back(), -2);
    });
  }
}

/// True: servers update parameters. False: they only sum.
class PsCheckpoint : public ::testing::TestWithParam<bool> {};

TEST_P(PsCheckpoint, CarriesOptimizerState) {
  const OptimizerOptions adam{.kind = OptimizerOptions::Kind::kAdam};
  ClusterOptions options{.servers = 2, .optimizer = adam, .schedule = {.base = 0.1}};
  options.strategy.Set(kServerUpdate, GetParam());
  std::vector<float> params, state, end;
  const auto step = [](TestWorker& worker, int number) {
    worker.FillGradients(static_cast<float>(number % 3) - 0.5F);
    worker.Step(number);
  };
  PsCluster straight(options);
  straight.Run([&](TestWorker& worker) {
    for (int i = 0; i < 3; ++i) step(worker, i);
    worker.strategy->Settle();
    if (worker.world.rank == 0) {
      params = Copy(worker.space.params());
      state.resize(worker.optimizer->state_size());
      worker.strategy->ReadOptimizerState(state);
    }
    for (int i = 3; i < 6; ++i) step(worker, i);
    if (worker.world.rank == 0) end = Copy(worker.space.params());
  });
  PsCluster resumed(options);
  const RankOutcomes outcomes = resumed.TryRun([&](TestWorker& worker) {
    std::ranges::copy(params, worker.space.params().begin());
    worker.strategy->Start(worker.space, worker.plan, {.step = 3, .optimizer_state = state});
    for (int i = 3; i < 6; ++i) step(worker, i);
    EXPECT_EQ(Copy(worker.space.params()), end);
    worker.strategy->Stop();
  });
  EXPECT_EQ(outcomes.failures(), 0) << CommErrorOf(outcomes.first).what();
}

INSTANTIATE_TEST_SUITE_P(Update, PsCheckpoint, ::testing::Bool());

class PsCopies : public ::testing::TestWithParam<std::pair<const char*, std::uint64_t>> {};

TEST_P(PsCopies, AreCountedBesideThePayload) {
  const auto [transport, copied] = GetParam();
  ClusterOptions options{.workers = 2, .servers = 1, .elements = 10'000, .target_bytes = 8'000};
  options.strategy.Set(kPsTransport, transport);
  PsCluster cluster(options);
  cluster.Run([expected = copied](TestWorker& worker) {
    const auto& strategy = dynamic_cast<PsStrategy&>(*worker.strategy);
    const std::uint64_t before = strategy.copies().total();
    for (int step = 0; step < 5; ++step) worker.Step(step);
    EXPECT_EQ(strategy.copies().total() - before, 5 * expected);
    EXPECT_EQ(worker.recorder.bytes_sent(), 5 * 40'000U);
    EXPECT_EQ(worker.recorder.bytes_received(), 5 * 40'000U);
  });
  const ServerReport report = cluster.server(0).Stop();
  EXPECT_EQ(report.bytes_received, 2 * 5 * 40'000U);
  EXPECT_EQ(report.bytes_sent, 2 * 5 * 40'000U);
  EXPECT_EQ(report.staleness, (std::map<std::int64_t, std::int64_t>{{0, 2 * 5 * 5}}));
}

// Over gRPC the worker's code moves the parameters, once. Elsewhere it moves nothing: the kernel or
// the server writes them in place.
INSTANTIATE_TEST_SUITE_P(Transports, PsCopies,
                         ::testing::Values(std::pair("grpc", 40'000U), std::pair("tcp", 0U),
                                           std::pair("shm", 0U)),
                         [](const auto& copies) { return copies.param.first; });

/// Two workers in lock-step through gates, so that every version is known.
TEST(PsAsync, MeasuresStalenessExactly) {
  PsCluster cluster({.entry = &kPsAsyncEntry, .elements = 16});
  Store& store = cluster.store();
  cluster.Run([&](TestWorker& worker) {
    const auto gate = [&](const std::string& name) {
      StoreAllGather(store, worker.world, name, "", Deadline::After(cluster.comm().timeout));
    };
    worker.FillGradients(1);
    if (worker.world.rank == 0) {
      for (int step = 0; step < 3; ++step) worker.Step(step);
    }
    gate("fast worker is three steps ahead");
    if (worker.world.rank == 1) worker.Step(0);
    gate("slow worker has made one step");
    if (worker.world.rank == 0) worker.Step(3);
    using Histogram = std::map<std::int64_t, std::int64_t>;
    EXPECT_EQ(worker.recorder.staleness(),
              worker.world.rank == 0 ? (Histogram{{0, 3}, {1, 1}}) : (Histogram{{3, 1}}));
  });
  const ServerReport report = cluster.server(0).Stop();
  EXPECT_EQ(report.staleness, (std::map<std::int64_t, std::int64_t>{{0, 3}, {1, 1}, {3, 1}}));
}

TEST(PsAsync, WorkersMayBeFarApartBetweenSteps) {
  for (const char* barrier : {"exchange/ps/settle/", "exchange/ps/stop/"}) {
    PsCluster cluster({.entry = &kPsAsyncEntry, .elements = 16});
    cluster.store().Delay(barrier, std::chrono::minutes(10));
    cluster.Run([](TestWorker& worker) {
      worker.Step(0);
      worker.strategy->Settle();
    });
  }
}

TEST(PsSync, ProcessesMayStartFurtherApartThanAnOperationTakes) {
  for (const char* key :
       {"ps/0", "exchange/ps/plan/", "exchange/ps/loaded/", "exchange/ps/started/"}) {
    PsCluster cluster({.elements = 16});
    cluster.comm().start_timeout = std::chrono::seconds(100);
    cluster.store().Delay(key, std::chrono::seconds(30));
    cluster.Run([](TestWorker& worker) { worker.Step(0); });
  }
}

TEST(PsFailure, AMissingWorkerIsNamedInTime) {
  PsCluster cluster({.workers = 3, .timeout = std::chrono::milliseconds(500)});
  cluster.comm().start_timeout = std::chrono::seconds(30);
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    if (worker.world.rank == 2) return;  // leaves without a push
    try {
      worker.Step(0);
    } catch (const CommError& error) {
      const std::string first = error.what();
      try {
        worker.strategy->Settle();
      } catch (const CommError& again) {
        EXPECT_EQ(again.what(), first);
        throw;
      }
    }
  });
  EXPECT_EQ(outcomes.failures(), 2);
  for (const int rank : {0, 1}) {
    const CommError error = CommErrorOf(outcomes.by_rank[std::size_t(rank)]);
    EXPECT_EQ(error.peer(), "worker 2") << error.what();
    EXPECT_THAT(error.operation(), HasSubstr("step 0"));
  }
}

TEST(PsFailure, AServerThatStopsIsNamed) {
  PsCluster cluster({.workers = 2, .servers = 2, .elements = 100'000, .target_bytes = 40'000});
  const std::string name = "server 1 at " + cluster.endpoint(1);
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    for (int step = 0;; ++step) {
      worker.Step(step);
      if (worker.world.rank == 0 && step == 3) cluster.server(1).Stop();
    }
  });
  for (const std::exception_ptr& thrown : outcomes.by_rank) {
    EXPECT_EQ(CommErrorOf(thrown).peer(), name);
  }
}

TEST(PsFailure, ADifferentPlanIsNamedOnEveryRank) {
  PsCluster cluster({.workers = 3});
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    const std::vector<TensorSpec> tensors{{"all", 1000}};
    const std::size_t bytes = worker.world.rank == 1 ? 2048 : 1024;
    const BucketPlan plan(tensors, {bytes, bytes});
    worker.strategy->Start(worker.space, plan, {});
  });
  for (const std::exception_ptr& thrown : outcomes.by_rank) {
    EXPECT_EQ(CommErrorOf(thrown).peer(), "worker 1");
  }
}

TEST(PsFailure, AServerThatIsNotThereIsNamed) {
  PsCluster cluster({.workers = 1, .timeout = std::chrono::milliseconds(200)});
  const auto worker = cluster.MakeWorker(0);
  worker->world.servers = 2;
  try {
    worker->strategy->Start(worker->space, worker->plan, {});
    FAIL() << "started without a server";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "server 1");
  }
}

TEST(PsStrategies, DescribeThemselves) {
  for (const StrategyEntry& entry : ServerStrategies()) {
    EXPECT_EQ(entry.traits.family, Family::kParameterServer) << entry.name;
    EXPECT_EQ(entry.traits.topology, Topology::kServers) << entry.name;
    EXPECT_TRUE(entry.Declares(kPsTransport.name)) << entry.name;
  }
  EXPECT_TRUE(kPsSyncEntry.traits.synchronous());
  EXPECT_EQ(kPsBackupEntry.traits.agreement, Agreement::kRelaxed);
  EXPECT_EQ(kPsSspEntry.traits.agreement, Agreement::kRelaxed);
  EXPECT_EQ(kPsAsyncEntry.traits.agreement, Agreement::kAsynchronous);
  const StrategyEntry mixed = ServerStrategyNamed("mixed");
  EXPECT_TRUE(mixed.traits.synchronous());
  EXPECT_EQ(mixed.traits.servers, ServerPlacement::kEveryWorker);
  EXPECT_EQ(kPsSyncEntry.traits.servers, ServerPlacement::kAsAsked);
}

}  // namespace
}  // namespace ringside
