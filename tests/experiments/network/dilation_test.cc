#include "ringside/experiments/network/dilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/node_settings.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

template <typename Call>
std::string Refusal(Call call) {
  try {
    call();
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(ParseDilation, ReadsFactorsAndAuto) {
  EXPECT_EQ(ParseDilation("1"), Dilation{});
  EXPECT_EQ(ParseDilation("2.5").factor, 2.5);
  EXPECT_TRUE(ParseDilation("auto").automatic);
  for (const char* text : {"1", "2.5", "10", "600", "auto"}) {
    EXPECT_EQ(DilationText(ParseDilation(text)), text);
  }
}

TEST(ParseDilation, RefusesWhatIsNoFactor) {
  EXPECT_THAT(Refusal([] { ParseDilation("0.5"); }), HasSubstr("give 1 or more"));
  EXPECT_THAT(Refusal([] { ParseDilation("-3"); }), HasSubstr("give 1 or more"));
  EXPECT_THAT(Refusal([] { ParseDilation("601"); }), HasSubstr("more than 600"));
  EXPECT_THAT(Refusal([] { ParseDilation("fast"); }), HasSubstr("'fast' is no factor of time"));
  EXPECT_THAT(Refusal([] { ParseDilation(""); }), HasSubstr("is no factor of time"));
}

TEST(CheckDilation, RefusesLinksThatWouldBeTooSlow) {
  const NetworkSpec network = ParseNetwork("rate=1Gbps,racks=2,uplink=20Mbps");
  EXPECT_EQ(Refusal([&] { CheckDilation({.factor = 20}, network); }), "");
  EXPECT_THAT(Refusal([&] { CheckDilation({.factor = 21}, network); }),
              HasSubstr("give at most 20"));
  EXPECT_EQ(Refusal([&] { CheckDilation({.automatic = true}, network); }), "");
}

TEST(CheckDilation, RefusesDelaysThatWouldBeTooLong) {
  const NetworkSpec network = ParseNetwork("rate=1Gbps,latency=100ms");
  EXPECT_EQ(Refusal([&] { CheckDilation({.factor = 100}, network); }), "");
  EXPECT_THAT(Refusal([&] { CheckDilation({.factor = 101}, network); }),
              HasSubstr("more than 10 s"));
}

TEST(MostBitsPerSecond, IsAllHostsOrTwiceTheSmallerSide) {
  const auto most = [](const char* network, int workers, int servers, bool exchange) {
    return MostBitsPerSecond(PlanNetwork(ParseNetwork(network), workers, servers), exchange);
  };
  EXPECT_EQ(most("1Gbps", 8, 0, false), 8e9);
  EXPECT_EQ(most("1Gbps", 8, 1, false), 2e9);
  EXPECT_EQ(most("1Gbps", 2, 8, false), 4e9);
  EXPECT_EQ(most("1Gbps", 8, 2, true), 10e9) << "servers in the workers, too";
  EXPECT_EQ(most("rate=1Gbps,servers=workers", 8, 2, false), 8e9);
}

TEST(ChooseDilation, TakesTheOneAskedFor) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("1Gbps"), 16, 0);
  EXPECT_EQ(ChooseDilation({.factor = 3.5}, plan, 1e12, 2), 3.5);
}

TEST(ChooseDilation, GrowsWithTheTrafficAndShrinksWithCores) {
  const auto automatic = [](const char* network, int hosts, int cores) {
    const NetworkPlan plan = PlanNetwork(ParseNetwork(network), hosts, 0);
    return ChooseDilation({.automatic = true}, plan, MostBitsPerSecond(plan, false), cores);
  };
  EXPECT_EQ(automatic("100Mbps", 4, 2), 1);
  EXPECT_EQ(automatic("2500Mbps", 8, 2), 10);
  EXPECT_EQ(automatic("2600Mbps", 8, 2), 11);
  EXPECT_EQ(automatic("2500Mbps", 8, 20), 1);
  EXPECT_EQ(automatic("rate=4Mbps,rates=20Gbps", 2, 2), 4) << "no link below 1 Mbit/s";
}

TEST(NeededDilation, IsAWholeNumberThatNoLinkLimits) {
  EXPECT_EQ(NeededDilation(20.004e9, 2), 11);
  EXPECT_EQ(NeededDilation(20e9, 2), 10);
  EXPECT_EQ(NeededDilation(1e6, 2), 1);
}

TEST(Dilated, SlowsRatesAndLengthensDelays) {
  const NetworkPlan plan =
      PlanNetwork(ParseNetwork("rate=1Gbps,rates=2Gbps,racks=2,uplink=500Mbps,latency=50us"), 4, 0);
  const NetworkPlan slow = Dilated(plan, 10);
  EXPECT_EQ(slow.hosts[0].rate_bits_per_s, 2e8);
  EXPECT_EQ(slow.hosts[1].rate_bits_per_s, 1e8);
  EXPECT_EQ(slow.spec.rate_bits_per_s, 1e8);
  EXPECT_EQ(slow.spec.rates[0], 2e8);
  EXPECT_EQ(slow.spec.uplink_bits_per_s, 5e7);
  EXPECT_DOUBLE_EQ(slow.spec.latency_s, 500e-6);
  EXPECT_EQ(slow.dilation, 10);
}

TEST(Dilated, LengthensTcpsLeastWaitAndKeepsQueuesAsBytes) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("rate=1Gbps,latency=50ms"), 2, 0);
  const NodeSettings host = HostSettings(plan).front();
  const NodeSettings slow = HostSettings(Dilated(plan, 10)).front();
  EXPECT_EQ(host.least_rto_ms, 200);
  EXPECT_EQ(slow.least_rto_ms, 2000);
  EXPECT_EQ(SwitchSettings(Dilated(plan, 10)).front().least_rto_ms, 2000);
  EXPECT_DOUBLE_EQ(slow.ports[0].queue_bytes, host.ports[0].queue_bytes);
  EXPECT_EQ(slow.ports[0].burst_bytes, host.ports[0].burst_bytes);
  EXPECT_THAT(IpScript(slow), HasSubstr("congctl cubic quickack 1 rto_min 2000ms"));
}

// 60 us of the link, between 32 KiB and 72 KiB; a bundle and its headers fit into it.
TEST(NodeSettings, BurstsGrowWithTheRateOfTheRunAndNotOfTheMachine) {
  const auto port = [](const char* network, double factor) {
    return HostSettings(Dilated(PlanNetwork(ParseNetwork(network), 2, 0), factor))[0].ports[0];
  };
  EXPECT_EQ(port("1Gbps", 1).burst_bytes, 32 << 10);
  EXPECT_EQ(port("1Gbps", 1).gso_max_bytes, 28 << 10);
  EXPECT_EQ(port("6Gbps", 10).burst_bytes, 45'000);
  EXPECT_EQ(port("25Gbps", 100).burst_bytes, 72 << 10);
  EXPECT_EQ(port("25Gbps", 100).gso_max_bytes, 64 << 10);
}

RunSpec RunWith(const char* network, const char* dilation) {
  RunSpec spec(TestCatalog());
  spec.model = "profile:resnet50";
  spec.compute_ms = 100;
  spec.steps = 10;
  spec.workers = 4;
  SetSpecKey(spec, "network", network);
  SetSpecKey(spec, "dilation", dilation);
  return spec;
}

std::vector<std::string> KeysOfRefusal(const RunSpec& spec) {
  try {
    Resolve(spec);
    return {};
  } catch (const SpecKeyError& error) {
    return error.keys();
  }
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DilationOfARun, NeedsAnEmulatedNetworkAndEmulatedCompute) {
  EXPECT_THAT(KeysOfRefusal(RunWith("1Gbps", "10")), IsEmpty());
  EXPECT_THAT(KeysOfRefusal(RunWith("1Gbps", "auto")), IsEmpty());
  EXPECT_THAT(KeysOfRefusal(RunWith("", "10")), ElementsAre("dilation", "network"));
  EXPECT_THAT(KeysOfRefusal(RunWith("", "auto")), ElementsAre("dilation", "network"));
  EXPECT_THAT(KeysOfRefusal(RunWith("", "1")), IsEmpty());
  EXPECT_THAT(KeysOfRefusal(RunWith("10Mbps", "11")), ElementsAre("dilation", "network"));
}

TEST(DilationOfARun, IsRefusedForAModelThatReallyComputes) {
  RunSpec real = RunWith("1Gbps", "10");
  real.model = "mlp";
  real.compute_ms = 0;
  EXPECT_THAT(KeysOfRefusal(real), ElementsAre("dilation", "model"));
  SetSpecKey(real, "dilation", "1");
  if (ThisBuild().libtorch.empty()) {
    EXPECT_THROW(KeysOfRefusal(real), MissingBackendError);
  } else {
    EXPECT_THAT(KeysOfRefusal(real), IsEmpty());
  }
}

TEST(DilationOfARun, ChangesItsIdOnlyWhenItIsAskedFor) {
  const auto id = [](const char* dilation) { return RunId(Resolve(RunWith("1Gbps", dilation))); };
  RunSpec without = RunWith("1Gbps", "1");
  without.dilation = {};
  EXPECT_EQ(id("1"), RunId(Resolve(without)));
  EXPECT_NE(id("2"), id("1"));
  EXPECT_NE(id("auto"), id("2"));
}

}  // namespace
}  // namespace ringside
