#include "ringside/experiments/network/network_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NetworkSpec, ReadsAllOfIt) {
  const NetworkSpec spec = ParseNetwork(
      "hosts=4, rate=1Gbps, rates=100Mbps:2.5Gbps, racks=2, uplink=500Mbit/s, latency=50us, "
      "jitter=10us, loss=0.1%, servers=workers, congestion=reno");
  EXPECT_EQ(spec.hosts, 4);
  EXPECT_EQ(spec.rate_bits_per_s, 1e9);
  EXPECT_THAT(spec.rates, ElementsAre(1e8, 2.5e9));
  EXPECT_EQ(spec.racks, 2);
  EXPECT_EQ(spec.uplink_bits_per_s, 5e8);
  EXPECT_DOUBLE_EQ(spec.latency_s, 50e-6);
  EXPECT_DOUBLE_EQ(spec.jitter_s, 10e-6);
  EXPECT_DOUBLE_EQ(spec.loss, 0.001);
  EXPECT_TRUE(spec.servers_on_workers);
  EXPECT_EQ(spec.congestion, "reno");
  EXPECT_TRUE(spec.needs_netem());
}

TEST(NetworkSpec, CubicIsUsedUnlessAnotherCongestionControlIsNamed) {
  EXPECT_EQ(ParseNetwork("1Gbps").congestion, "cubic");
  EXPECT_EQ(ParseNetwork("1Gbps,congestion=cubic"), ParseNetwork("1Gbps"));
  EXPECT_EQ(NetworkText(ParseNetwork("1Gbps,congestion=cubic")), "1Gbps");
  EXPECT_EQ(ParseNetwork("1Gbps,congestion=my_tcp_15_chars").congestion, "my_tcp_15_chars");
}

TEST(NetworkSpec, KnowsItsSlowestLink) {
  EXPECT_EQ(ParseNetwork("1Gbps").slowest_bits_per_s(), 1e9);
  EXPECT_EQ(ParseNetwork("rates=1Gbps:100Mbps").slowest_bits_per_s(), 1e8);
  EXPECT_EQ(ParseNetwork("rate=1Gbps,rates=2Gbps:3Gbps").slowest_bits_per_s(), 1e9);
  EXPECT_EQ(ParseNetwork("1Gbps,racks=2,uplink=200Mbps").slowest_bits_per_s(), 2e8);
}

TEST(NetworkSpec, ARateAloneIsEnough) {
  const NetworkSpec spec = ParseNetwork("300Mbps");
  EXPECT_EQ(spec.rate_bits_per_s, 3e8);
  EXPECT_EQ(spec.hosts, 0);
  EXPECT_FALSE(spec.needs_netem());
  EXPECT_EQ(ParseNetwork("1Gbps,hosts=2"), ParseNetwork("hosts=2,rate=1Gbps"));
}

class NetworkTextTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NetworkTextTest, ReadsBackToTheSame) {
  const NetworkSpec spec = ParseNetwork(GetParam());
  EXPECT_EQ(NetworkText(spec), GetParam());
  EXPECT_EQ(ParseNetwork(NetworkText(spec)), spec);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NetworkTextTest,
    ::testing::Values("1Gbps", "300Mbps", "2500Mbps", "1234567bps", "hosts=4,rate=1Gbps",
                      "rates=1Gbps:100Mbps",
                      "hosts=4,rate=1Gbps,rates=100Mbps,racks=2,uplink=500Mbps,latency=50us,"
                      "jitter=10us,loss=0.001,servers=workers",
                      "rate=1Gbps,congestion=bbr",
                      "hosts=2,rate=1Gbps,servers=workers,congestion=reno",
                      "rate=1Gbps,latency=1.5ms", "rate=1Gbps,latency=2s"));

struct Fault {
  const char* text;
  const char* message;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.text; }

class NetworkFault : public ::testing::TestWithParam<Fault> {};

TEST_P(NetworkFault, IsRefusedWithItsReason) {
  try {
    ParseNetwork(GetParam().text);
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, NetworkFault,
    ::testing::Values(Fault{"hosts=4", "a rate is missing"},
                      Fault{"hosts=0,rate=1Gbps", "1 to 250 hosts, not 0"},
                      Fault{"hosts=251,rate=1Gbps", "1 to 250 hosts, not 251"},
                      Fault{"hosts=two,rate=1Gbps", "hosts: 'two' is not a whole number"},
                      Fault{"rate=0Gbps", "rate: '0Gbps' is no rate"},
                      Fault{"-1Gbps", "rate: '-1Gbps' is no rate"}, Fault{"fast", "rate such as"},
                      Fault{"rate=1", "from 1Mbps"}, Fault{"rates=1Gbps:,rate=1Gbps", "rates: "},
                      Fault{"1Gbps,hots=2", "hots: no such thing (did you mean 'hosts'?)"},
                      Fault{"1Gbps,2Gbps", "NAME=VALUE"}, Fault{"1Gbps,hosts=2,hosts=3", "twice"},
                      Fault{"1Gbps,racks=2", "need the rate of their uplinks"},
                      Fault{"1Gbps,uplink=1Gbps", "belongs to racks"},
                      Fault{"1Gbps,racks=0,uplink=1Gbps", "1 to 250 racks, not 0"},
                      Fault{"1Gbps,latency=-1us", "latency: "},
                      Fault{"1Gbps,latency=1h", "no delay"},
                      Fault{"1Gbps,latency=1us,jitter=2us", "jitter"},
                      Fault{"1Gbps,loss=100%", "no share"}, Fault{"1Gbps,loss=-0.1", "no share"},
                      Fault{"1Gbps,servers=elsewhere", "no place for servers"},
                      Fault{"1Gbps,congestion=", "'congestion=' is not NAME=VALUE"},
                      Fault{"1Gbps,congestion=Reno",
                            "congestion: 'Reno' is no congestion control of TCP: a name such as "
                            "cubic, reno or bbr"},
                      Fault{"1Gbps,congestion=a;b", "'a;b' is no congestion control"},
                      Fault{"1Gbps,congestion=sixteen_letters_", "is no congestion control"},
                      Fault{"1Gbps,congestoin=reno", "did you mean 'congestion'?"}));

TEST(NetworkPlan, DealsWorkersInBlocksAndServersToHostsOfTheirOwn) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("hosts=2,rate=1Gbps"), 5, 2);
  ASSERT_EQ(plan.hosts.size(), 4u);
  EXPECT_THAT(plan.worker_hosts, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(plan.server_hosts, ElementsAre(2, 3));
  EXPECT_EQ(plan.hosts[0].address, "10.83.0.1");
  EXPECT_EQ(plan.hosts[3].address, "10.83.0.4");
}

TEST(NetworkPlan, AHostAWorkerUnlessHostsAreSaid) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("1Gbps"), 3, 0);
  EXPECT_THAT(plan.worker_hosts, ElementsAre(0, 1, 2));
  EXPECT_TRUE(plan.server_hosts.empty());
}

TEST(NetworkPlan, ServersTakeTurnsOnWorkersHosts) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("1Gbps,servers=workers"), 2, 3);
  EXPECT_EQ(plan.hosts.size(), 2u);
  EXPECT_THAT(plan.server_hosts, ElementsAre(0, 1, 0));
}

TEST(NetworkPlan, UnevenRatesAreOfTheFirstHosts) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("rate=1Gbps,rates=100Mbps:2Gbps"), 2, 1);
  EXPECT_EQ(plan.hosts[0].rate_bits_per_s, 1e8);
  EXPECT_EQ(plan.hosts[1].rate_bits_per_s, 2e9);
  EXPECT_EQ(plan.hosts[2].rate_bits_per_s, 1e9) << "the server's";
  EXPECT_EQ(plan.fastest_bits_per_s(), 2e9);
}

TEST(NetworkPlan, RacksTakeHostsInBlocks) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("1Gbps,racks=2,uplink=1Gbps"), 3, 1);
  std::vector<int> racks;
  for (const NetworkPlan::Host& host : plan.hosts) racks.push_back(host.rack);
  EXPECT_THAT(racks, ElementsAre(0, 0, 1, 1));
}

TEST(NetworkPlan, RefusesWhatCannotBe) {
  EXPECT_THROW(PlanNetwork(ParseNetwork("hosts=3,rate=1Gbps"), 2, 0), ConfigError);
  EXPECT_THROW(PlanNetwork(ParseNetwork("1Gbps,racks=2,uplink=1Gbps"), 3, 0), ConfigError);
  EXPECT_THROW(PlanNetwork(ParseNetwork("rates=1Gbps:1Gbps"), 2, 1), ConfigError) << "no rate left";
  EXPECT_THROW(PlanNetwork(ParseNetwork("rates=1Gbps:1Gbps:1Gbps"), 2, 0), ConfigError);
  EXPECT_THROW(PlanNetwork(ParseNetwork("1Gbps"), 200, 51), ConfigError) << "too many hosts";
}

TEST(Goodput, CountsWholeFrames) { EXPECT_NEAR(GoodputBytesPerSecond(1e9) * 8 / 1e6, 956.4, 0.1); }

RunSpec RunOn(const std::string& network) {
  RunSpec spec(TestCatalog());
  spec.model = "profile:resnet50";
  spec.steps = 10;
  spec.workers = 4;
  SetSpecKey(spec, "network", network);
  return spec;
}

std::string KeyOfRefusal(const RunSpec& spec) {
  try {
    Resolve(spec);
    return "";
  } catch (const SpecKeyError& error) {
    return error.key();
  }
}

TEST(NetworkOfARun, SaysHostsAndTheBoundsLinks) {
  const RunSpec resolved = Resolve(RunOn("hosts=2,rate=1Gbps"));
  EXPECT_EQ(resolved.hosts, 2);
  EXPECT_EQ(resolved.link_bits_per_s, 1e9);
  EXPECT_EQ(Resolve(resolved).hosts, 2) << "what is resolved stays";
  EXPECT_EQ(Resolve(RunOn("1Gbps")).hosts, 4);
  RunSpec own = RunOn("1Gbps");
  own.hosts = 2;
  EXPECT_EQ(Resolve(own).hosts, 2);
}

TEST(NetworkOfARun, IsRefusedWhereItCannotBe) {
  EXPECT_EQ(KeyOfRefusal(RunOn("hosts=5,rate=1Gbps")), "network");
  EXPECT_EQ(KeyOfRefusal(RunOn("hosts=4,rate=1Gbps,racks=3,uplink=1Gbps")), "network");
  RunSpec spec = RunOn("hosts=4,rate=1Gbps");
  spec.hosts = 2;
  EXPECT_EQ(KeyOfRefusal(spec), "network");
  spec = RunOn("1Gbps");
  spec.link_bits_per_s = 2e9;
  EXPECT_EQ(KeyOfRefusal(spec), "link");
  spec = RunOn("1Gbps");
  spec.strategy = "mpi";
  EXPECT_EQ(KeyOfRefusal(spec), "network");
  spec = RunOn("1Gbps");
  spec.strategy = "nccl";
  EXPECT_EQ(KeyOfRefusal(spec), "network");
  spec = RunOn("1Gbps");
  spec.strategy = "shm";
  EXPECT_EQ(KeyOfRefusal(spec), "network");
  spec = RunOn("1Gbps");
  spec.strategy = "ps-sync";
  spec.options.Set(kPsTransport, "uds");
  EXPECT_EQ(KeyOfRefusal(spec), "ps-transport");
}

}  // namespace
}  // namespace ringside
