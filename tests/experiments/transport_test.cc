#include "experiments/transport.h"

#include <gtest/gtest.h>

#include "experiments/strategy_table.h"

namespace ringside {
namespace {

std::string Over(const char* strategy, int workers = 4, int hosts = 1,
                 const StrategyOptions& options = {}) {
  RunSpec spec;
  spec.strategy = strategy;
  spec.workers = workers;
  spec.options = options;
  return TransportOf(spec, hosts);
}

StrategyOptions Through(PsTransport transport) {
  StrategyOptions options;
  options.ps_transport = transport;
  return options;
}

TEST(Transport, EveryStrategyThatSendsHasOne) {
  for (const StrategyEntry* entry : StrategyTable()) {
    EXPECT_EQ(Over(entry->name.data()).empty(), entry->family == Family::kNone) << entry->name;
  }
  EXPECT_EQ(Over("no-such-strategy"), "");
}

TEST(Transport, OfServersIsWhatTheSpecSays) {
  EXPECT_EQ(Over("ps-sync"), "grpc");
  EXPECT_EQ(Over("mixed", 4, 1, Through(PsTransport::kUds)), "uds");
  EXPECT_EQ(Over("ps-async", 4, 1, Through(PsTransport::kShm)), "shm");
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
  nccl.host_sum = HostSum::kNccl;
  EXPECT_EQ(Over("hierarchical", 4, 1), "shm");
  EXPECT_EQ(Over("hierarchical", 4, 2), "shm+tcp");
  EXPECT_EQ(Over("hierarchical", 4, 4), "tcp");
  EXPECT_EQ(Over("hierarchical", 4, 1, nccl), "nccl");
  EXPECT_EQ(Over("hierarchical", 4, 2, nccl), "nccl+tcp");
}

TEST(Transport, OfAutoIsWhatItCanPickFrom) {
  StrategyOptions fp16;
  fp16.codec.kind = CodecKind::kFp16;
  EXPECT_EQ(Over("auto", 4, 1), "shm or tcp");
  EXPECT_EQ(Over("auto", 4, 2), "shm+tcp or tcp");
  EXPECT_EQ(Over("auto", 4, 4), "tcp");
  EXPECT_EQ(Over("auto", 4, 1, fp16), "tcp");
}

TEST(Transport, GrpcIsTcpAndWhatIsUnknownDiffersFromNothing) {
  EXPECT_TRUE(AlikeTransports("grpc", "tcp"));
  EXPECT_TRUE(AlikeTransports("shm", "shm"));
  EXPECT_TRUE(AlikeTransports("", "shm"));
  for (const char* other : {"uds", "shm", "shm+tcp", "shm or tcp", "mpi"}) {
    EXPECT_FALSE(AlikeTransports("grpc", other)) << other;
    EXPECT_FALSE(AlikeTransports(other, "tcp")) << other;
  }
}

TEST(Transport, MemoryAndLocalSocketsBindServersToOneHost) {
  RunSpec spec;
  spec.options.ps_transport = PsTransport::kUds;
  EXPECT_FALSE(ServersNeedOneHost(spec)) << "a ring has no servers";
  spec.strategy = "ps-ssp";
  EXPECT_TRUE(ServersNeedOneHost(spec));
  spec.options.ps_transport = PsTransport::kGrpc;
  EXPECT_FALSE(ServersNeedOneHost(spec));
}

}  // namespace
}  // namespace ringside
