#include "ringside/experiments/spec/transport.h"

#include <gtest/gtest.h>

#include "ringside/common/codec/half_codec.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/ring/collectives/host_sum.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

TransportUse UseOf(const char* strategy, int workers, int hosts, const StrategyOptions& options) {
  RunSpec spec(TestCatalog());
  spec.strategy = strategy;
  spec.workers = workers;
  spec.options = options;
  return TransportOf(spec, hosts);
}

std::string Over(const char* strategy, int workers = 4, int hosts = 1,
                 const StrategyOptions& options = {}) {
  return UseOf(strategy, workers, hosts, options).name;
}

StrategyOptions Through(const char* transport) {
  StrategyOptions options;
  options.Set(kPsTransport, transport);
  return options;
}

TEST(Transport, EveryStrategyThatSendsHasOne) {
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    EXPECT_EQ(Over(entry.name.c_str()).empty(), entry.traits.topology == Topology::kNone)
        << entry.name;
  }
  EXPECT_EQ(Over("no-such-strategy"), "");
}

TEST(Transport, OfServersIsWhatTheSpecSays) {
  EXPECT_EQ(Over("ps-sync"), "tcp");
  EXPECT_EQ(Over("mixed", 4, 1, Through("uds")), "uds");
  EXPECT_EQ(Over("ps-async", 4, 1, Through("shm")), "shm");
}

TEST(Transport, OfRingsIsThatOfTheirCollective) {
  for (const char* strategy : {"ring", "tree", "halving-doubling", "local-sgd", "diloco"}) {
    EXPECT_EQ(Over(strategy), "tcp") << strategy;
    EXPECT_EQ(Over(strategy, 4, 4), "tcp") << strategy;
  }
  EXPECT_EQ(Over("shm"), "shm");
  EXPECT_EQ(Over("mpi"), "mpi");
  EXPECT_EQ(Over("nccl"), "nccl");
}

TEST(Transport, OfHierarchiesFollowsFromTheHosts) {
  StrategyOptions nccl;
  nccl.Set(kHostSum, HostSum::kNccl);
  EXPECT_EQ(Over("hierarchical", 4, 1), "shm");
  EXPECT_EQ(Over("hierarchical", 4, 2), "shm+tcp");
  EXPECT_EQ(Over("hierarchical", 4, 4), "tcp");
  EXPECT_EQ(Over("hierarchical", 4, 1, nccl), "nccl");
  EXPECT_EQ(Over("hierarchical", 4, 2, nccl), "nccl+tcp");
}

TEST(Transport, OfAutoIsWhatItCanPickFrom) {
  StrategyOptions fp16;
  fp16.codec.entry = &kFp16Codec;
  EXPECT_EQ(Over("auto", 4, 1), "shm or tcp");
  EXPECT_EQ(Over("auto", 4, 2), "shm+tcp or tcp");
  EXPECT_EQ(Over("auto", 4, 4), "tcp");
  EXPECT_EQ(Over("auto", 4, 1, fp16), "tcp");
}

TEST(Transport, OfOneMediumIsComparableAndWhatIsUnknownDiffersFromNothing) {
  const TransportUse tcp = UseOf("ps-sync", 4, 1, {});
  EXPECT_TRUE(AreComparableTransports(tcp, {"tcp"})) << "frames and Gloo's pairs over plain TCP";
  const TransportUse grpc = UseOf("ps-sync", 4, 1, Through("grpc"));
  EXPECT_FALSE(AreComparableTransports(grpc, {"tcp"})) << "HTTP/2 costs more";
  EXPECT_TRUE(AreComparableTransports({"shm"}, {"shm"}));
  EXPECT_TRUE(AreComparableTransports({}, {"shm"}));
  for (const char* other : {"uds", "shm", "shm+tcp", "shm or tcp", "mpi"}) {
    EXPECT_FALSE(AreComparableTransports(grpc, {other})) << other;
    EXPECT_FALSE(AreComparableTransports({other}, {"tcp"})) << other;
  }
}

TEST(Transport, MemoryAndLocalSocketsBindServersToOneHost) {
  RunSpec spec(TestCatalog());
  spec.options.Set(kPsTransport, "uds");
  EXPECT_FALSE(OneHostNeedOf(spec)) << "a ring has no servers";
  spec.strategy = "ps-ssp";
  EXPECT_EQ(OneHostNeedOf(spec).value().key, "ps-transport");
  spec.options.Set(kPsTransport, "grpc");
  EXPECT_FALSE(OneHostNeedOf(spec));
  spec.strategy = "shm";
  EXPECT_EQ(OneHostNeedOf(spec).value().key, "") << "the strategy itself";
}

}  // namespace
}  // namespace ringside
