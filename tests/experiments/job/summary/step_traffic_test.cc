#include "ringside/experiments/job/summary/step_traffic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "ringside/common/codec/codec_table.h"
#include "ringside/experiments/job/summary/step_bound.h"
#include "ringside/experiments/network/network_spec.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::UnorderedElementsAre;

constexpr double kBytes = 1000;

/// The time that M bytes take over a link of 4 Mbit/s.
double LinkSeconds() { return kBytes / GoodputBytesPerSecond(4e6); }

RunSpec SpecOn(const std::string& network, const std::string& strategy, int workers,
               int servers = 0, bool colocated = false) {
  RunSpec spec = ProfileSpec(strategy, workers, 4);
  spec.servers = servers;
  spec.colocated = colocated;
  spec.network = ParseNetwork(network);
  spec.link_bits_per_s = 4e6;
  return spec;
}

StepBound BoundOnHosts(const RunSpec& spec) {
  const int hosts = spec.network->hosts > 0 ? spec.network->hosts : spec.workers;
  return BoundOf(spec, hosts, kBytes, kBytes).value();
}

/// The communication of a step over the time of M bytes.
double Links(const RunSpec& spec) {
  return BoundOnHosts(spec).comm_ms.value() / 1000 / LinkSeconds();
}

/// What `TrafficOf` says of equal links, and the formula of the strategy.
struct Times {
  double overlapped_s = 0;
  double sequential_s = 0;
  double formula_s = 0;
};

Times TimesOf(const RunSpec& spec) {
  const NetworkPlan plan = PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated);
  const CostInput input{.workers = spec.workers,
                        .servers = spec.servers,
                        .colocated = spec.colocated,
                        .bytes = kBytes,
                        .bytes_per_s = GoodputBytesPerSecond(4e6)};
  const Cost cost = spec.catalog().FindStrategy(spec.strategy)->bound(input);
  const TrafficTimes times = TrafficOf(spec, plan, input, cost, /*gathered=*/false).value();
  return {times.overlapped_s, times.sequential_s, cost.seconds};
}

// Two derivations of one figure: the formulas of the literature, and the messages of the program.
TEST(StepTraffic, OfEveryAllReduceOnEqualLinksTakesTheTimeOfItsFormula) {
  for (const char* strategy : {"ring", "halving-doubling", "recursive-doubling", "tree"}) {
    for (int workers = 2; workers <= 17; ++workers) {
      const Times times = TimesOf(SpecOn("4Mbps", strategy, workers));
      EXPECT_NEAR(times.sequential_s, times.formula_s, 1e-9) << strategy << " " << workers;
      EXPECT_LE(times.overlapped_s, times.formula_s + 1e-9) << strategy << " " << workers;
    }
  }
}

TEST(StepTraffic, OfServersOnEqualLinksTakesTheTimeOfTheirFormula) {
  for (int workers = 2; workers <= 9; ++workers) {
    for (int servers = 1; servers <= workers; ++servers) {
      for (const bool colocated : {false, true}) {
        const Times times = TimesOf(SpecOn("4Mbps", "ps-sync", workers, servers, colocated));
        EXPECT_NEAR(times.overlapped_s, times.formula_s, 1e-9) << workers << "+" << servers;
      }
      const Times mixed = TimesOf(SpecOn("4Mbps", "mixed", workers, servers));
      EXPECT_NEAR(mixed.overlapped_s, mixed.formula_s, 1e-9) << workers << "+" << servers;
    }
  }
}

TEST(StepTraffic, ProcessesThatShareAHostShareItsLink) {
  const std::string hosts = "hosts=4,rate=4Mbps";
  EXPECT_NEAR(Links(SpecOn(hosts, "ring", 8)), 1.75, 1e-9) << "one edge leaves each host";
  // Neighbours share a host, so the halves stay there. Both send 1/4 and 1/8, twice.
  EXPECT_NEAR(Links(SpecOn(hosts, "halving-doubling", 8)), 1.5, 1e-9);
  // Two workers send M each to the server's host, and get M each back.
  EXPECT_NEAR(Links(SpecOn(hosts, "ps-sync", 8, 1)), 8, 1e-9);
  EXPECT_NEAR(Links(SpecOn(hosts, "ps-sync", 8, 8)), 2, 1e-9);
  // A host's sum goes round the four hosts. What is gathered goes round unsummed.
  RunSpec hierarchical = SpecOn(hosts, "hierarchical", 8);
  EXPECT_NEAR(Links(hierarchical), 1.5, 1e-9);
  ParseCodec("topk:0.01", BuiltinCodecs(), hierarchical.options.codec);
  EXPECT_NEAR(Links(hierarchical), 3 * 2, 1e-9);
  EXPECT_EQ(Links(SpecOn("hosts=1,rate=4Mbps", "ring", 4)), 0) << "no link is used";
  // The server is on the host of worker 0.
  EXPECT_NEAR(Links(SpecOn("rate=4Mbps,servers=workers", "ps-sync", 4, 1)), 3, 1e-9);
}

// Of eight workers on H = 4 hosts, messages within a host count nothing. A ring passes 2 (H-1)
// edges between hosts, and gathers in H-1.
TEST(StepTraffic, TheLatencyOfTheFormulaIsAdded) {
  constexpr double kLatency = 0.25;  // of the time of M bytes
  const auto added = [&](const std::string& strategy, const char* codec) {
    RunSpec spec = SpecOn("hosts=4,rate=4Mbps", strategy, 8);
    ParseCodec(codec, BuiltinCodecs(), spec.options.codec);
    const double without = Links(spec);
    spec.link_latency_s = kLatency * LinkSeconds();
    return Links(spec) - without;
  };
  EXPECT_NEAR(added("ring", "fp32"), 6 * kLatency, 1e-9);
  EXPECT_NEAR(added("recursive-doubling", "fp32"), 2 * kLatency, 1e-9);
  EXPECT_NEAR(added("hierarchical", "fp32"), 6 * kLatency, 1e-9);
  EXPECT_NEAR(added("hierarchical", "topk:0.01"), 3 * kLatency, 1e-9);
  // It may double recursively. What is gathered goes round a ring.
  EXPECT_NEAR(added("auto", "fp32"), 2 * kLatency, 1e-9);
  EXPECT_NEAR(added("auto", "topk:0.01"), 3 * kLatency, 1e-9);
}

TEST(StepTraffic, EachHostSendsAtItsOwnRate) {
  EXPECT_NEAR(Links(SpecOn("rate=4Mbps,rates=1Mbps", "ring", 4)), 4 * 1.5, 1e-9);
  EXPECT_NEAR(Links(SpecOn("rate=4Mbps,rates=1Mbps", "halving-doubling", 4)), 4 * 1.5, 1e-9);
  // Of two workers the slow one has the only server.
  EXPECT_NEAR(Links(SpecOn("rates=1Mbps:4Mbps", "ps-sync", 2, 1, true)), 4, 1e-9);
  EXPECT_NEAR(Links(SpecOn("rates=4Mbps:1Mbps", "ps-sync", 2, 1, true)), 4, 1e-9);
}

TEST(StepTraffic, UplinksCarryWhatRacksExchange) {
  const std::string narrow = "rate=4Mbps,racks=2,uplink=1Mbps";
  EXPECT_NEAR(Links(SpecOn(narrow, "ring", 4)), 4 * 1.5, 1e-9) << "one edge leaves each rack";
  // 2 x 2 ranks send 1/4 of M to the other rack, and get as much back.
  EXPECT_NEAR(Links(SpecOn(narrow, "halving-doubling", 4)), 4 * 1, 1e-9);
  EXPECT_NEAR(Links(SpecOn(narrow, "recursive-doubling", 4)), 4 * 2, 1e-9);
  // 2 workers x 2 servers of the other rack x 1/4 of M, and the same as answers.
  EXPECT_NEAR(Links(SpecOn(narrow, "ps-sync", 4, 4, true)), 4 * 2, 1e-9);
  // Two servers fill a rack of three hosts with the fourth worker, which pushes within it.
  EXPECT_NEAR(Links(SpecOn(narrow, "ps-sync", 4, 2)), 4 * 3, 1e-9);
}

TEST(StepTraffic, OfAStrategyThatChoosesIsThatOfAnyAllReduceAndItsPhasesAreTheShortest) {
  const std::vector<std::string> choices = TestCatalog().FindStrategy("auto")->chooses_among;
  EXPECT_THAT(choices, UnorderedElementsAre("ring", "halving-doubling", "recursive-doubling",
                                            "tree", "hierarchical"));
  for (const char* network : {"rate=4Mbps,rates=1Mbps", "rate=4Mbps,racks=2,uplink=1Mbps",
                              "rates=1Mbps:4Mbps:2Mbps:3Mbps", "hosts=2,rate=4Mbps"}) {
    SCOPED_TRACE(network);
    double links = std::numeric_limits<double>::infinity();
    double phases_ms = links;
    for (const std::string& choice : choices) {
      const RunSpec spec = SpecOn(network, choice, 4);
      links = std::min(links, Links(spec));
      phases_ms = std::min(phases_ms, BoundOnHosts(spec).phases_ms);
    }
    const RunSpec chosen = SpecOn(network, "auto", 4);
    EXPECT_LE(Links(chosen), links + 1e-9);
    EXPECT_NEAR(BoundOnHosts(chosen).phases_ms, phases_ms, 1e-9);
  }
  // M bytes leave and reach the slowest host, and the rack with the narrow uplink.
  EXPECT_NEAR(Links(SpecOn("rate=4Mbps,rates=1Mbps", "auto", 4)), 4, 1e-9);
  EXPECT_NEAR(Links(SpecOn("rate=4Mbps,racks=2,uplink=1Mbps", "auto", 4)), 4, 1e-9);
  // All four hosts send 6 M. The slowest needs less than that for its M.
  EXPECT_NEAR(Links(SpecOn("rates=3Mbps:4Mbps:4Mbps:4Mbps", "auto", 4)), 4 * 6 / 15.0, 1e-9);
  EXPECT_NEAR(Links(SpecOn("hosts=2,rate=4Mbps", "auto", 4)), 1, 1e-9);
  for (const std::string& choice : choices) {
    EXPECT_EQ(Links(SpecOn("hosts=1,rate=4Mbps", choice, 4)), 0) << choice << ": no link is used";
  }
  EXPECT_EQ(Links(SpecOn("hosts=1,rate=4Mbps", "auto", 4)), 0) << "no link is used";
  RunSpec gathers = SpecOn("rate=4Mbps,rates=1Mbps", "auto", 4);
  ParseCodec("topk:0.01", BuiltinCodecs(), gathers.options.codec);
  EXPECT_NEAR(Links(gathers), 4 * 3, 1e-9) << "what is gathered goes round a ring";
}

}  // namespace
}  // namespace ringside
