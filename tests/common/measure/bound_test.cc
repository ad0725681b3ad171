#include "ringside/common/measure/bound.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// 100 MB over links of 125 MB/s (1 Gbit/s), 1 ms a message: M/B = 0.8 s.
CostInput Input(int workers, int servers = 0, bool colocated = false) {
  return {.workers = workers,
          .servers = servers,
          .colocated = colocated,
          .bytes = 100e6,
          .bytes_per_s = 125e6,
          .latency_s = 1e-3};
}

void ExpectCost(const Cost& cost, double seconds, double worker_bytes, double server_bytes = 0) {
  EXPECT_NEAR(cost.seconds, seconds, 1e-9);
  EXPECT_NEAR(cost.bytes_sent_per_worker, worker_bytes, 1e-3);
  EXPECT_NEAR(cost.bytes_received_per_worker, worker_bytes, 1e-3);
  EXPECT_NEAR(cost.bytes_per_server, server_bytes, 1e-3);
}

TEST(BoundTest, NoSynchronisationIsFree) { ExpectCost(NoCost(Input(4)), 0, 0); }

TEST(BoundTest, Ring) {
  ExpectCost(RingCost(Input(1)), 0, 0);
  ExpectCost(RingCost(Input(2)), 0.002 + 0.8, 100e6);
  ExpectCost(RingCost(Input(4)), 0.006 + 1.2, 150e6);
  ExpectCost(RingCost(Input(5)), 0.008 + 1.28, 160e6);
}

TEST(BoundTest, HierarchicalCountsEachHostsLinkOnce) {
  CostInput input = Input(4);
  input.hosts = 2;
  const Cost cost = HierarchicalCost(input);
  CostInput hosts = Input(2);
  EXPECT_DOUBLE_EQ(cost.seconds, RingCost(hosts).seconds);
  EXPECT_DOUBLE_EQ(2 * cost.bytes_sent_per_worker, RingCost(hosts).bytes_sent_per_worker);
  input.hosts = 0;
  EXPECT_DOUBLE_EQ(HierarchicalCost(input).seconds, RingCost(input).seconds);
}

TEST(BoundTest, HalvingDoublingAtPowersOfTwo) {
  ExpectCost(HalvingDoublingCost(Input(1)), 0, 0);
  ExpectCost(HalvingDoublingCost(Input(2)), 0.002 + 0.8, 100e6);
  ExpectCost(HalvingDoublingCost(Input(4)), 0.004 + 1.2, 150e6);
  ExpectCost(HalvingDoublingCost(Input(8)), 0.006 + 1.4, 175e6);
}

TEST(BoundTest, HalvingDoublingElsewhereHasAStepBeforeAndAfter) {
  // Bytes are means: of five workers one sends M, its partner 1.5 M + M, three send 1.5 M.
  ExpectCost(HalvingDoublingCost(Input(3)), 0.004 + 0.8 + 1.6, 400e6 / 3);
  ExpectCost(HalvingDoublingCost(Input(5)), 0.006 + 1.2 + 1.6, 160e6);
}

TEST(BoundTest, RecursiveDoublingSendsAllInEveryStep) {
  ExpectCost(RecursiveDoublingCost(Input(1)), 0, 0);
  ExpectCost(RecursiveDoublingCost(Input(2)), 0.001 + 0.8, 100e6);
  ExpectCost(RecursiveDoublingCost(Input(8)), 0.003 + 2.4, 300e6);
  // Of five workers one sends M, its partner 2 M + M, three send 2 M.
  ExpectCost(RecursiveDoublingCost(Input(5)), 0.004 + 3.2, 200e6);
}

TEST(BoundTest, MixedLiesBetweenColocatedAndDedicatedServers) {
  // n = 4, k = 2: 24/20 M/B; a worker sends M + 2 x 2/20 M; six servers share 4 M.
  ExpectCost(MixedServerCost(Input(4, 2)), 0.002 + 1.2 * 0.8, 120e6, 400e6 / 6);
  for (const int workers : {1, 2, 5}) {
    const Cost colocated = ParameterServerCost(Input(workers, workers, true));
    const Cost none_spare = MixedServerCost(Input(workers, 0));
    ExpectCost(none_spare, colocated.seconds, colocated.bytes_sent_per_worker,
               colocated.bytes_per_server);
    const Cost dedicated = ParameterServerCost(Input(workers, workers));
    const Cost all_spare = MixedServerCost(Input(workers, workers));
    ExpectCost(all_spare, dedicated.seconds, dedicated.bytes_sent_per_worker,
               dedicated.bytes_per_server);
  }
}

TEST(BoundTest, MixedCountsTheBusierDirectionWherePullsAreLonger) {
  // Of 20 parts a worker's server has 2: 0.9 x 25 MB + 0.1 x 3 x 100 MB out, the other way round
  // in; a dedicated server has 6 parts of four workers.
  CostInput input = Input(4, 2);
  input.bytes = 25e6;
  input.pull_bytes = 100e6;
  const Cost cost = MixedServerCost(input);
  EXPECT_NEAR(cost.bytes_sent_per_worker, 52.5e6, 1);
  EXPECT_NEAR(cost.bytes_received_per_worker, 97.5e6, 1);
  EXPECT_NEAR(cost.seconds, 0.002 + 120e6 / input.bytes_per_s, 1e-9);
  for (const int workers : {1, 2, 5}) {
    input.workers = input.servers = workers;
    input.colocated = true;
    const Cost colocated = ParameterServerCost(input);
    input.colocated = false;
    input.servers = 0;
    EXPECT_NEAR(MixedServerCost(input).seconds, colocated.seconds, 1e-9) << workers;
  }
}

TEST(BoundTest, TreeHasFewStepsAndAlmostTheBytesOfARing) {
  ExpectCost(TreeCost(Input(1)), 0, 0);
  ExpectCost(TreeCost(Input(2)), 0.002 + 0.8, 100e6);
  ExpectCost(TreeCost(Input(3)), 0.002 + 1.2, 400e6 / 3);
  ExpectCost(TreeCost(Input(4)), 0.004 + 1.6, 150e6);
  ExpectCost(TreeCost(Input(13)), 0.006 + 1.6, 2400e6 / 13);
}

TEST(BoundTest, WorkersThatStepAloneShareOutOneSum) {
  CostInput input = Input(4);
  input.sync_every = 10;
  ExpectCost(PeriodicRingCost(input), 0.1206, 15e6);
}

TEST(BoundTest, NoAllReduceBeatsTheRingsBytesAndTheFewestSteps) {
  ExpectCost(AllReduceCost(Input(1)), 0, 0);
  ExpectCost(AllReduceCost(Input(2)), 0.001 + 0.8, 100e6);
  ExpectCost(AllReduceCost(Input(5)), 0.003 + 1.28, 160e6);
}

TEST(BoundTest, DedicatedServersAreLimitedByTheBusierSide) {
  ExpectCost(ParameterServerCost(Input(1, 1)), 0.002 + 0.8, 100e6, 100e6);
  ExpectCost(ParameterServerCost(Input(4, 1)), 0.002 + 3.2, 100e6, 400e6);
  ExpectCost(ParameterServerCost(Input(4, 2)), 0.002 + 1.6, 100e6, 200e6);
  ExpectCost(ParameterServerCost(Input(2, 4)), 0.002 + 0.8, 100e6, 50e6);
}

TEST(BoundTest, ColocatedServersShareTheWorkersLinks) {
  // The busiest link sets the time; the bytes to other hosts are the same however many serve.
  ExpectCost(ParameterServerCost(Input(1, 1, true)), 0, 0, 100e6);
  ExpectCost(ParameterServerCost(Input(4, 1, true)), 0.002 + 2.4, 150e6, 400e6);
  ExpectCost(ParameterServerCost(Input(4, 2, true)), 0.002 + 1.6, 150e6, 200e6);
  ExpectCost(ParameterServerCost(Input(4, 4, true)), 0.002 + 1.2, 150e6, 100e6);
}

// A quarter of the bytes out, all of them back.
TEST(BoundTest, PushesAndPullsOfDifferentLength) {
  const auto encoded = [](int servers, bool colocated) {
    CostInput input = Input(4, servers, colocated);
    input.pull_bytes = input.bytes;
    input.bytes /= 4;
    return ParameterServerCost(input);
  };
  const Cost dedicated = encoded(2, false);
  EXPECT_DOUBLE_EQ(dedicated.seconds, 0.002 + 1.6);
  EXPECT_DOUBLE_EQ(dedicated.bytes_sent_per_worker, 25e6);
  EXPECT_DOUBLE_EQ(dedicated.bytes_received_per_worker, 100e6);
  EXPECT_DOUBLE_EQ(dedicated.bytes_per_server, 50e6);
  const Cost colocated = encoded(4, true);
  EXPECT_DOUBLE_EQ(colocated.bytes_sent_per_worker, 0.75 * 125e6);
  EXPECT_DOUBLE_EQ(colocated.bytes_received_per_worker, 0.75 * 125e6);
  EXPECT_DOUBLE_EQ(colocated.seconds, 0.002 + 0.75);
}

TEST(BoundTest, GatheredGradientsGoToEveryOther) {
  ExpectCost(GatherCost(Input(1, 0)), 0, 0, 0);
  ExpectCost(GatherCost(Input(4, 0)), 0.003 + 2.4, 300e6, 0);
}

// NUMBERS: dedicated servers beat a ring when S > N^2 / (2(N-1)): 3 at N=4, 5 at 8, 9 at 16.
TEST(BoundTest, DedicatedServersBeatARingFromTheKnownCountOn) {
  const auto beats = [](int workers, int servers) {
    CostInput input = Input(workers, servers);
    input.latency_s = 0;
    return ParameterServerCost(input).seconds < RingCost(input).seconds;
  };
  EXPECT_TRUE(beats(4, 3));
  EXPECT_FALSE(beats(4, 2));
  EXPECT_TRUE(beats(8, 5));
  EXPECT_FALSE(beats(8, 4));
  EXPECT_TRUE(beats(16, 9));
  EXPECT_FALSE(beats(16, 8));
}

TEST(BoundTest, WithoutADeclaredLinkThereIsNoTimeButThereAreBytes) {
  CostInput input = Input(4, 2);
  input.bytes_per_s = 0;
  EXPECT_EQ(RingCost(input).seconds, 0);
  EXPECT_EQ(RingCost(input).bytes_sent_per_worker, 150e6);
  EXPECT_EQ(ParameterServerCost(input).seconds, 0);
  EXPECT_EQ(ParameterServerCost(input).bytes_per_server, 200e6);
}

TEST(BoundTest, NoServerNoBound) { EXPECT_THROW(ParameterServerCost(Input(4, 0)), InternalError); }

}  // namespace
}  // namespace ringside
