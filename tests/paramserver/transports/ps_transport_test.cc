// What every transport between workers and servers promises, with threads as ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/transports/core/server_link.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/checksum.h"
#include "tests/common/comm_error.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The names of all built-in transports.
std::vector<std::string> BuiltIn() {
  std::vector<std::string> names;
  const TransportTable transports;
  for (const TransportEntry* entry : transports.entries()) names.emplace_back(entry->name);
  return names;
}

StrategyOptions Over(const std::string& transport) {
  StrategyOptions options;
  options.Set(kPsTransport, transport);
  return options;
}

class TransportTest : public ::testing::TestWithParam<std::string> {};

TEST_P(TransportTest, FollowsTheSumExactly) {
  for (const auto& [workers, servers, elements] : std::vector<std::tuple<int, int, std::size_t>>{
           {1, 1, 0}, {1, 1, 1}, {2, 1, 100'000}, {3, 2, 100'000}, {7, 3, 1000}}) {
    PsCluster cluster({.workers = workers,
                       .servers = servers,
                       .elements = elements,
                       .target_bytes = std::max<std::size_t>(64, elements * sizeof(float) / 7),
                       .strategy = Over(GetParam())});
    cluster.Run([&, world = workers](TestWorker& worker) {
      for (int step = 0; step < 3; ++step) {
        for (std::size_t i = 0; i < worker.space.size(); ++i) {
          worker.space.grads()[i] =
              static_cast<float>((i + 1) % 97 + std::size_t(worker.world.rank));
        }
        worker.Step(step);
        for (std::size_t i = 0; i < worker.space.size(); ++i) {
          const int sum = world * static_cast<int>((i + 1) % 97) + world * (world - 1) / 2;
          ASSERT_EQ(worker.space.params()[i], static_cast<float>(-(step + 1) * sum)) << i;
        }
      }
      worker.strategy->Settle();
      EXPECT_EQ(worker.recorder.bytes_sent(), 3 * worker.space.size() * sizeof(float));
    });
  }
}

/// A server refuses a push without a checksum.
TEST_P(TransportTest, CarriesTheChecksumsOfPushes) {
  StrategyOptions options = Over(GetParam());
  options.Set(kCheckPushes, true);
  for (const StrategyEntry* entry : {&kPsSyncEntry, &kPsAsyncEntry}) {
    PsCluster cluster({.entry = entry,
                       .workers = 3,
                       .servers = 2,
                       .elements = 50'000,
                       .target_bytes = 30'000,
                       .strategy = options});
    cluster.Run([](TestWorker& worker) {
      worker.FillGradients(1);
      for (int step = 0; step < 3; ++step) worker.Step(step);
      worker.strategy->Settle();
      for (const float value : worker.space.params()) ASSERT_EQ(value, -9.0F);
    });
  }
}

TEST_P(TransportTest, StartsWithTheParametersOfRankZero) {
  PsCluster cluster({.workers = 3, .elements = 5000, .strategy = Over(GetParam())});
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    std::ranges::fill(worker.space.params(), worker.world.rank == 0 ? 5.0F : -1.0F);
    worker.strategy->Start(worker.space, worker.plan, {});
    for (const float value : worker.space.params()) ASSERT_EQ(value, 5.0F);
    worker.strategy->Stop();
  });
  EXPECT_EQ(outcomes.failures(), 0) << CommErrorOf(outcomes.first).what();
}

TEST_P(TransportTest, CarriesOptimizerState) {
  PsCluster cluster({.servers = 2, .optimizer = {.momentum = 0.5}, .strategy = Over(GetParam())});
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    std::vector<float> state(worker.optimizer->state_size(), 8.0F);
    worker.strategy->Start(worker.space, worker.plan, {.step = 4, .optimizer_state = state});
    worker.FillGradients(1);
    worker.Step(4);
    worker.strategy->Settle();
    if (worker.world.rank == 0) {
      worker.strategy->ReadOptimizerState(state);
      for (const float value : state) ASSERT_EQ(value, 0.5F * 8 + 2);
    }
    worker.strategy->Stop();
  });
  EXPECT_EQ(outcomes.failures(), 0) << CommErrorOf(outcomes.first).what();
}

TEST_P(TransportTest, AppliesAsynchronousPushes) {
  PsCluster cluster({.entry = &kPsAsyncEntry, .workers = 3, .strategy = Over(GetParam())});
  cluster.Run([](TestWorker& worker) {
    worker.FillGradients(1);
    for (int step = 0; step < 5; ++step) worker.Step(step);
    worker.strategy->Settle();
    for (const float value : worker.space.params()) ASSERT_EQ(value, -15.0F);
  });
}

TEST_P(TransportTest, RefusesAWrongToken) {
  PsCluster cluster({.workers = 1, .strategy = Over(GetParam())});
  const auto worker = cluster.MakeWorker(0);
  CommOptions comm = cluster.comm();
  comm.token = "another token";
  const Schedule schedule({.base = 1.0});
  StrategyContext context{.world = worker->world,
                          .store = cluster.store(),
                          .comm = comm,
                          .optimizer = *worker->optimizer,
                          .schedule = schedule,
                          .recorder = worker->recorder,
                          .timeline = worker->timeline};
  context.options = Over(GetParam());
  const auto stranger = kPsSyncEntry.make(context);
  try {
    stranger->Start(worker->space, worker->plan, {});
    FAIL() << "started with a wrong token";
  } catch (const CommError& error) {
    EXPECT_THAT(error.what(), HasSubstr("server 0"));
    EXPECT_THAT(error.what(), HasSubstr("token"));
  }
}

TEST_P(TransportTest, NamesAMissingWorkerInTime) {
  PsCluster cluster(
      {.workers = 3, .timeout = std::chrono::milliseconds(500), .strategy = Over(GetParam())});
  cluster.comm().start_timeout = std::chrono::seconds(30);
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    if (worker.world.rank != 2) worker.Step(0);
  });
  for (const int rank : {0, 1}) {
    EXPECT_EQ(CommErrorOf(outcomes.by_rank[std::size_t(rank)]).peer(), "worker 2");
  }
}

TEST_P(TransportTest, NamesAWorkerThatLeavesWhileItsPushWaits) {
  PsCluster cluster({.workers = 3, .strategy = Over(GetParam())});
  const auto& server = dynamic_cast<PsServer&>(cluster.server(0));
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    const int bucket = worker.world.rank == 2 ? 0 : 1;
    worker.Submit(bucket, 0);
    if (worker.world.rank != 2) return worker.Await(bucket, 0);
    while (server.counters().waiting < 3) std::this_thread::yield();
  });
  for (const int rank : {0, 1}) {
    EXPECT_EQ(CommErrorOf(outcomes.by_rank[std::size_t(rank)]).peer(), "worker 2");
  }
}

TEST_P(TransportTest, NamesAServerThatStops) {
  PsCluster cluster({.workers = 2,
                     .servers = 2,
                     .elements = 100'000,
                     .target_bytes = 40'000,
                     .strategy = Over(GetParam())});
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    for (int step = 0;; ++step) {
      worker.Step(step);
      if (worker.world.rank == 0 && step == 3) cluster.server(1).Stop();
    }
  });
  for (const std::exception_ptr& thrown : outcomes.by_rank) {
    EXPECT_THAT(CommErrorOf(thrown).peer(), HasSubstr("server 1"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransportTest, ::testing::ValuesIn(BuiltIn()),
                         [](const auto& tested) { return tested.param; });

// A worker allocates no memory for an answer that is longer than any of its buckets.
TEST(GrpcTransport, RefusesAnAnswerAboveTheLimitOfTheWorker) {
  PsCluster cluster({.workers = 1, .elements = 256, .strategy = Over("grpc")});
  cluster.comm().largest_message_bytes = 1000;  // the servers have theirs already
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    worker.Step(0);
  });
  ASSERT_EQ(outcomes.failures(), 1);
  const CommError error = CommErrorOf(outcomes.first);
  EXPECT_THAT(error.peer(), HasSubstr("server 0"));
  EXPECT_THAT(error.what(), HasSubstr("1000"));
}

TEST(ServerAddress, SurvivesTheStore) {
  const TransportTable transports;
  for (const TransportEntry* transport : transports.entries()) {
    const ServerAddress address =
        transport->needs_one_host ? LocalAddress(*transport) : ServerAddress{transport, "[::1]:80"};
    const ServerAddress read = transports.ParseAddress(address.ToText());
    EXPECT_EQ(read.transport, transport);
    EXPECT_EQ(read.address, address.address);
    EXPECT_EQ(read.host, address.host);
  }
  const TransportEntry& uds = transports.Named("uds");
  EXPECT_NE(LocalAddress(uds).address, LocalAddress(uds).address);
  for (const char* text : {"uds x", "carrier-pigeon a b", " ", "grpc", "127.0.0.1:80"}) {
    EXPECT_THROW(transports.ParseAddress(text), CommError) << text;
  }
}

TEST(ServerAddress, LoopbackAndLocalSocketsLeaveNoHost) {
  const auto is_here = [](const std::string& text) {
    return TransportTable().ParseAddress(text).IsHere();
  };
  EXPECT_TRUE(is_here("grpc 127.0.0.1:80"));
  EXPECT_TRUE(is_here("grpc [::1]:80"));
  EXPECT_TRUE(is_here("shm name host"));
  EXPECT_FALSE(is_here("grpc 10.127.0.1:80"));
  EXPECT_FALSE(is_here("grpc [fd00::1]:80"));
}

TEST(ServerAddress, AServerOnAnotherHostIsRefusedWithTheReason) {
  const TransportTable transports;
  ServerAddress address = LocalAddress(transports.Named("uds"));
  address.host = "elsewhere";
  FlatSpace space(1);
  EXPECT_THAT([&] { transports.Connect(0, address, {}, space, {}); },
              ::testing::ThrowsMessage<ConfigError>(
                  "server 0 is on another host: --ps-transport uds and shm need workers and "
                  "servers on one host; use tcp"));
}

TEST(TransportTableTest, NamesAreFoundAndChosenByTheOption) {
  const TransportTable transports;
  EXPECT_THAT(BuiltIn(), ElementsAre("grpc", "tcp", "uds", "shm"));
  for (const TransportEntry* entry : transports.entries()) {
    EXPECT_EQ(transports.Find(entry->name), entry);
    EXPECT_EQ(&transports.Of(Over(std::string(entry->name))), entry);
  }
  EXPECT_EQ(transports.Of({}).name, "tcp") << "the default";
}

TEST(TransportTableTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const TransportTable transports;
  EXPECT_EQ(transports.Find("quic"), nullptr);
  EXPECT_THAT([&] { (void)transports.Named("quic"); },
              ThrowsMessage<ConfigError>(HasSubstr("'quic'; there are grpc, tcp, uds, shm")));
}

constexpr TransportEntry kPigeon{
    .name = "pigeon",
    .medium = "air",
    .needs_one_host = true,
    .connect = [](int, const ServerAddress&, const LinkSetup&, FlatSpace&,
                  const CommOptions&) -> std::unique_ptr<ServerLink> { return nullptr; },
    .listen = [](const TransportEntry&, const ServerContext&,
                 ShardTable&) -> std::unique_ptr<Listener> { return nullptr; }};

TEST(TransportTableTest, TheOptionHasTheNamesOfTheTable) {
  const OptionDeclaration built_in = TransportTable().Option();
  EXPECT_EQ(
      built_in.help,
      "between worker and server: grpc (HTTP/2), tcp (plain frames), or uds and shm on one host");
  EXPECT_THAT(built_in.choices, ElementsAre("grpc", "tcp", "uds", "shm"));
  EXPECT_EQ(std::get<std::string>(built_in.default_value), "tcp");
  EXPECT_EQ(built_in.role, OptionRole::kTransport);
  EXPECT_THAT(
      [&] { built_in.Check(std::string("pigeon")); },
      ThrowsMessage<ConfigError>("no transport is called 'pigeon'; there are grpc, tcp, uds, shm"));

  const std::vector<const TransportEntry*> own{&kPigeon};
  const TransportTable more(own);
  EXPECT_EQ(&more.Of(Over("pigeon")), &kPigeon);
  EXPECT_EQ(more.Option().help,
            "between worker and server: grpc (HTTP/2), tcp (plain frames), or uds, shm and pigeon "
            "on one host");
  EXPECT_NO_THROW(more.Option().Check(std::string("pigeon")));
}

TEST(TransportTableTest, EntriesThatCannotBeAreRefused) {
  const auto refusal = [](const TransportEntry& entry) -> std::string {
    try {
      const TransportTable table(std::vector<const TransportEntry*>{&entry});
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal(kPigeon), "taken");
  TransportEntry entry = kPigeon;
  entry.name = "shm";
  EXPECT_EQ(refusal(entry), "two entries of kind 'transport' are called 'shm'; rename one");
  entry = kPigeon;
  entry.listen = nullptr;
  EXPECT_EQ(refusal(entry), "transport 'pigeon' has no function 'listen'");
}

}  // namespace
}  // namespace ringside
