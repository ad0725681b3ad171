#include "add_a_transport.inc"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/strategies/ps_strategies.h"
#include "tests/common/comm_error.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TransportTable TableWithTheExample() {
  const std::array<const TransportEntry*, 1> own{&kStreamTransport};
  return TransportTable(own);
}

/// ps-sync, or another built-in strategy, of a program that has the transport.
StrategyEntry StrategyOverIt(std::string_view name) {
  const std::vector<StrategyEntry> strategies = ServerStrategies(TableWithTheExample());
  return *std::ranges::find(strategies, name, &StrategyEntry::name);
}

class AddATransportTest : public ::testing::Test {
 protected:
  ClusterOptions Options(int workers, int servers, std::size_t elements) const {
    ClusterOptions options{.entry = &entry_,
                           .workers = workers,
                           .servers = servers,
                           .elements = elements,
                           .target_bytes = std::max<std::size_t>(64, elements * sizeof(float) / 7)};
    options.strategy.Set(kPsTransport, "stream");
    return options;
  }

  const StrategyEntry entry_ = StrategyOverIt("ps-sync");
};

TEST_F(AddATransportTest, TheExampleCarriesPushesAndAnswersExactly) {
  constexpr int kSteps = 3, kWorkers = 3;
  PsCluster cluster(Options(kWorkers, 2, 100'000));
  EXPECT_THAT(cluster.store().Get("ps/0", Deadline::After(std::chrono::seconds(1))),
              ::testing::StartsWith("stream ringside-"));
  cluster.Run([&](TestWorker& worker) {
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        worker.space.grads()[i] = static_cast<float>(i % 97 + std::size_t(worker.world.rank));
      }
      worker.Step(step);
      for (std::size_t i = 0; i < worker.space.size(); ++i) {
        const int sum = kWorkers * static_cast<int>(i % 97) + kWorkers * (kWorkers - 1) / 2;
        ASSERT_EQ(worker.space.params()[i], static_cast<float>(-(step + 1) * sum)) << i;
      }
    }
    worker.strategy->Settle();
    EXPECT_EQ(worker.recorder.bytes_sent(), kSteps * worker.space.size() * sizeof(float));
  });
}

TEST_F(AddATransportTest, TheExampleCarriesOptimizerStateAndEmptyBuckets) {
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
    ClusterOptions options = Options(2, 1, elements);
    options.optimizer = {.momentum = 0.5};
    PsCluster cluster(options);
    const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
      std::vector<float> state(worker.optimizer->state_size(), 8.0F);
      worker.strategy->Start(worker.space, worker.plan, {.step = 4, .optimizer_state = state});
      worker.FillGradients(1);
      worker.Step(4);
      worker.strategy->Settle();
      if (worker.world.rank == 0) worker.strategy->ReadOptimizerState(state);
      for (const float value : state) ASSERT_EQ(value, worker.world.rank == 0 ? 0.5F * 8 + 2 : 8);
      worker.strategy->Stop();
    });
    EXPECT_EQ(outcomes.failures(), 0) << elements;
  }
}

TEST_F(AddATransportTest, TheExampleRefusesAWrongToken) {
  PsCluster cluster(Options(1, 1, 100));
  const TransportTable transports = TableWithTheExample();
  const std::string text = cluster.store().Get("ps/0", Deadline::After(std::chrono::seconds(1)));
  const ServerAddress address = transports.ParseAddress(text);
  CommOptions comm = cluster.comm();
  comm.token = "another token";
  FlatSpace space(1);
  EXPECT_THAT([&] { (void)transports.Connect(0, address, {}, space, comm); },
              ::testing::ThrowsMessage<CommError>(HasSubstr("wrong or missing token")));
}

TEST_F(AddATransportTest, TheExampleNamesAWorkerThatLeavesAndAServerThatStops) {
  PsCluster cluster(Options(2, 1, 1000));
  const auto& server = dynamic_cast<PsServer&>(cluster.server(0));
  const RankOutcomes left = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    const int bucket = worker.world.rank;  // nobody completes a bucket
    worker.Submit(bucket, 0);
    if (worker.world.rank == 0) return worker.Await(bucket, 0);
    while (server.counters().waiting < 2) std::this_thread::yield();
  });
  EXPECT_EQ(CommErrorOf(left.by_rank[0]).peer(), "worker 1");

  PsCluster other(Options(2, 1, 1000));
  const RankOutcomes stopped = other.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    for (int step = 0;; ++step) {
      worker.Step(step);
      if (worker.world.rank == 0 && step == 3) other.server(0).Stop();
    }
  });
  for (const std::exception_ptr& thrown : stopped.by_rank) {
    EXPECT_THAT(CommErrorOf(thrown).peer(), HasSubstr("server 0"));
  }
}

TEST_F(AddATransportTest, ItsNameIsAValueOfTheOption) {
  const auto option =
      std::ranges::find(entry_.options, kPsTransport.name, &OptionDeclaration::name);
  ASSERT_NE(option, entry_.options.end());
  EXPECT_NO_THROW(option->Check(std::string("stream")));
  EXPECT_THAT(option->help, HasSubstr("uds, shm and stream on one host"));
  StrategyOptions options;
  options.Set(kPsTransport, "stream");
  EXPECT_EQ(entry_.transport(options, 2, 1).name, "stream");
  EXPECT_EQ(entry_.needs_one_host(options).value().key, "ps-transport");
}

}  // namespace
}  // namespace ringside
