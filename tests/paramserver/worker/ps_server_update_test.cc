// Servers that only sum, so that workers update with their own optimizer.
#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "tests/common/comm_error.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

std::vector<float> ParamsOf(const TestWorker& worker) {
  return {worker.space.params().begin(), worker.space.params().end()};
}

struct SumCase {
  const char* name;
  const StrategyEntry* entry;
  const char* transport;
  OptimizerOptions optimizer;
};

void PrintTo(const SumCase& each, std::ostream* out) { *out << each.name; }

class ServersThatOnlySum : public ::testing::TestWithParam<SumCase> {
 protected:
  struct End {
    std::vector<float> params, state;
    bool operator==(const End&) const = default;
  };

  /// What worker 0 has after four steps. All workers must have the same parameters.
  static End Train(bool servers_update) {
    ClusterOptions options{.entry = GetParam().entry,
                           .workers = 3,
                           .servers = 4,
                           .elements = 20'000,
                           .target_bytes = 9'000,
                           .optimizer = GetParam().optimizer,
                           .schedule = {.base = 0.1}};
    if (GetParam().entry == &kMixedEntry) options.colocated = 3;
    options.strategy.Set(kPsTransport, GetParam().transport);
    options.strategy.Set(kServerUpdate, servers_update);
    PsCluster cluster(options);
    std::vector<End> ends(3);
    cluster.Run([&](TestWorker& worker) {
      for (int step = 0; step < 4; ++step) {
        for (std::size_t i = 0; i < worker.space.size(); ++i) {
          worker.space.grads()[i] = 1.0F / (static_cast<float>((i + std::size_t(step)) % 97) +
                                            0.3F * static_cast<float>(worker.world.rank) + 0.7F);
        }
        worker.Step(step);
        if (step == 1) worker.strategy->Settle();
      }
      worker.strategy->Settle();
      End& end = ends[static_cast<std::size_t>(worker.world.rank)];
      end.params = ParamsOf(worker);
      end.state.resize(worker.optimizer->state_size());
      worker.strategy->ReadOptimizerState(end.state);
    });
    EXPECT_EQ(ends[1], ends[0]);
    EXPECT_EQ(ends[2], ends[0]);
    return ends[0];
  }
};

TEST_P(ServersThatOnlySum, GiveTheBitsOfServersThatUpdate) {
  EXPECT_EQ(Train(/*servers_update=*/false), Train(/*servers_update=*/true));
}

constexpr OptimizerOptions kMomentum{.momentum = 0.9, .nesterov = true, .weight_decay = 0.01};
constexpr OptimizerOptions kAdamW{.kind = OptimizerOptions::Kind::kAdamW, .weight_decay = 0.01};
INSTANTIATE_TEST_SUITE_P(
    All, ServersThatOnlySum,
    ::testing::Values(SumCase{"TcpSgd", &kPsSyncEntry, "tcp", {}},
                      SumCase{"TcpMomentum", &kPsSyncEntry, "tcp", kMomentum},
                      SumCase{"TcpAdamW", &kPsSyncEntry, "tcp", kAdamW},
                      SumCase{"GrpcMomentum", &kPsSyncEntry, "grpc", kMomentum},
                      SumCase{"ShmMomentum", &kPsSyncEntry, "shm", kMomentum},
                      SumCase{"MixedMomentum", &kMixedEntry, "tcp", kMomentum}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ServersThatOnlySumTest, ABucketThatNobodyAwaitsIsUpdatedAtTheEnd) {
  ClusterOptions options{.servers = 2};
  options.strategy.Set(kServerUpdate, false);
  PsCluster cluster(options);
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    worker.FillGradients(1);
    for (int bucket = 0; bucket < worker.plan.buckets(); ++bucket) worker.Submit(bucket, 0);
    worker.strategy->Stop();
    EXPECT_EQ(ParamsOf(worker), std::vector<float>(worker.space.size(), -2.0F));
  });
  EXPECT_EQ(outcomes.failures(), 0) << CommErrorOf(outcomes.first).what();
}

}  // namespace
}  // namespace ringside
