// Changes every setting of an emulated network by hand and expects the check to see it.
#include "ringside/experiments/lab/settings_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/experiments/lab/iproute.h"
#include "ringside/experiments/lab/lab.h"
#include "ringside/experiments/system/files/find_program.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/lab/emulated_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

NetworkPlan RackPlan() { return PlanNetwork(ParseNetwork("100Mbps,racks=2,uplink=50Mbps"), 4, 0); }

enum class Place { kHost1, kSwitchOfRack1, kSpine };

/// A change by hand, and the message that the check then gives.
struct Change {
  const char* name;
  Place place;
  const char* ip;  ///< Lines for `ip`.
  const char* tc;  ///< Lines for `tc`.
  const char* message;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

/// One node of a lab: where it is and what was set there.
struct Node {
  const NetNamespace* where;
  NodeSettings settings;
};

Node NodeAt(const Lab& lab, Place place) {
  const std::vector<Lab::Link> links = lab.links();
  switch (place) {
    case Place::kHost1:
      return {&lab.host(1), HostSettings(lab.plan())[1]};
    case Place::kSwitchOfRack1:
      return {links[2].switch_namespace, SwitchSettings(lab.plan())[1]};
    case Place::kSpine:
      break;
  }
  return {links[4].switch_namespace, SpineSettings(lab.plan())[0]};
}

std::string Refusal(const Node& node) {
  try {
    CheckSettings(*node.where, node.settings);
    return "";
  } catch (const MissingBackendError& error) {
    return error.what();
  }
}

class SettingsCheck : public EmulatedTest, public ::testing::WithParamInterface<Change> {};

TEST_P(SettingsCheck, SeesThatASettingIsNotInForce) {
  const Lab lab(RackPlan());
  const Node node = NodeAt(lab, GetParam().place);
  ASSERT_EQ(Refusal(node), "");
  RunIp(*node.where, GetParam().ip);
  RunTc(*node.where, GetParam().tc);
  EXPECT_THAT(Refusal(node), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Routes, SettingsCheck,
    ::testing::Values(
        Change{"OtherCongestionControl", Place::kHost1,
               "route replace 10.83.0.0/16 dev eth0 proto kernel scope link src 10.83.0.2 "
               "congctl reno\n",
               "",
               "host 1: the congestion control of the route to 10.83.0.0/16 is reno, although "
               "cubic was set: the emulated network would not be the one asked for"},
        Change{"NoCongestionControl", Place::kHost1,
               "route replace 10.83.0.0/16 dev eth0 proto kernel scope link src 10.83.0.2\n", "",
               "the route to 10.83.0.0/16 is the machine's default, although cubic was set"},
        Change{"OtherCongestionControlToItself", Place::kHost1,
               "route replace local 10.83.0.2 table local dev eth0 proto kernel scope host src "
               "10.83.0.2 congctl reno\n",
               "", "the route to 10.83.0.2 is reno, although cubic was set"},
        Change{"NoCongestionControlToItself", Place::kHost1,
               "route replace local 10.83.0.2 table local dev eth0 proto kernel scope host src "
               "10.83.0.2\n",
               "", "the route to 10.83.0.2 is the machine's default, although cubic was set"},
        Change{"NoQuickAnswersToItself", Place::kHost1,
               "route replace local 10.83.0.2 table local dev eth0 proto kernel scope host src "
               "10.83.0.2 congctl cubic rto_min 200ms\n",
               "", "quickack of the route to 10.83.0.2 is -1, although 1 was set"},
        Change{"OtherLeastWaitToItself", Place::kHost1,
               "route replace local 10.83.0.2 table local dev eth0 proto kernel scope host src "
               "10.83.0.2 congctl cubic quickack 1 rto_min 300ms\n",
               "", "rto_min (in ms) of the route to 10.83.0.2 is 300, although 200 was set"},
        Change{"NoQuickAnswers", Place::kHost1,
               "route replace 10.83.0.0/16 dev eth0 proto kernel scope link src 10.83.0.2 congctl "
               "cubic rto_min 200ms\n",
               "", "quickack of the route to 10.83.0.0/16 is -1, although 1 was set"},
        Change{"OtherLeastWait", Place::kHost1,
               "route replace 10.83.0.0/16 dev eth0 proto kernel scope link src 10.83.0.2 congctl "
               "cubic quickack 1 rto_min 300ms\n",
               "", "rto_min (in ms) of the route to 10.83.0.0/16 is 300, although 200 was set"},
        Change{"MoreRoutes", Place::kHost1, "route add 10.83.0.1/32 dev eth0\n", "",
               "the number of routes to 10.83.0.0/16 is 2, although 1 was set"},
        Change{"NoRoute", Place::kHost1, "route del 10.83.0.0/16 dev eth0\n", "",
               "the number of routes to 10.83.0.0/16 is 0, although 1 was set"},
        Change{"NoRouteToItself", Place::kHost1, "route del local 10.83.0.2 table local\n", "",
               "the number of routes to 10.83.0.2 is 0, although 1 was set"},
        Change{"RouteWithoutSource", Place::kHost1,
               "route replace 10.83.0.0/16 dev eth0 proto kernel scope link congctl cubic\n", "",
               "the source of the route to 10.83.0.0/16 is none, although 10.83.0.2 was set"},
        Change{"RouteThroughAnotherDevice", Place::kHost1,
               "link add other type bridge\nlink set dev other up\n"
               "route replace 10.83.0.0/16 dev other proto kernel scope link src 10.83.0.2 "
               "congctl cubic\n",
               "", "the device of the route to 10.83.0.0/16 is other, although eth0 was set"},
        Change{"CongestionControlOfASwitch", Place::kSwitchOfRack1,
               "route replace 10.83.0.0/16 dev bridge0 proto kernel scope link src 10.83.254.2 "
               "congctl reno\n",
               "", "the switch of rack 1: the congestion control of the route to"},
        Change{"CongestionControlOfTheSpine", Place::kSpine,
               "route replace 10.83.0.0/16 dev bridge0 proto kernel scope link src 10.83.255.1 "
               "congctl reno\n",
               "", "the switch of the racks: the congestion control of the route to"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Devices, SettingsCheck,
    ::testing::Values(
        Change{"NoAddress", Place::kHost1, "address del 10.83.0.2/16 dev eth0\n", "",
               "host 1: the address of eth0 is none, although 10.83.0.2/16 was set"},
        Change{"OtherPrefix", Place::kHost1,
               "address del 10.83.0.2/16 dev eth0\naddress add 10.83.0.2/24 dev eth0\n", "",
               "the address of eth0 is 10.83.0.2/24, although 10.83.0.2/16 was set"},
        Change{"OneMoreAddress", Place::kHost1, "address add 10.83.9.9/32 dev eth0\n", "",
               "the address of eth0 is 10.83.0.2/16 and 10.83.9.9/32, although"},
        Change{"LargerBundles", Place::kHost1, "link set dev eth0 gso_max_size 65536\n", "",
               "gso_max_size of eth0 is 65536, although 28672 was set"},
        Change{"BundlesOfFewerSegments", Place::kHost1, "link set dev eth0 gso_max_segs 1\n", "",
               "gso_max_segs of eth0 is 1, although 65535 was set"},
        Change{"LargerBundlesOfASwitch", Place::kSwitchOfRack1,
               "link set dev port3 gso_max_size 65536\n", "",
               "the switch of rack 1: gso_max_size of port3 is 65536"},
        Change{"DeviceDown", Place::kHost1, "link set dev eth0 down\n", "",
               "the state of eth0 is down, although up was set"},
        Change{"LoopbackDown", Place::kHost1, "link set dev lo down\n", "",
               "the state of lo is down, although up was set"},
        Change{"BridgeDown", Place::kSwitchOfRack1, "link set dev bridge0 down\n", "",
               "the state of bridge0 is down, although up was set"},
        Change{"PortDown", Place::kSwitchOfRack1, "link set dev port2 down\n", "",
               "the state of port2 is down, although up was set"},
        Change{"PortInNoBridge", Place::kSwitchOfRack1, "link set dev port2 nomaster\n", "",
               "the bridge of port2 is none, although bridge0 was set"},
        Change{"UplinkInNoBridge", Place::kSwitchOfRack1, "link set dev uplink nomaster\n", "",
               "the bridge of uplink is none, although bridge0 was set"},
        Change{"RackInNoBridge", Place::kSpine, "link set dev rack0 nomaster\n", "",
               "the switch of the racks: the bridge of rack0 is none"},
        Change{"HostInABridge", Place::kHost1,
               "link add other type bridge\nlink set dev eth0 master other\n", "",
               "the bridge of eth0 is other, although none was set"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Shapers, SettingsCheck,
    ::testing::Values(
        Change{"OtherRate", Place::kHost1, "",
               "qdisc change dev eth0 root handle 1: tbf rate 98mbit burst 32kb limit 1048576\n",
               "host 1: the rate of eth0 is 98000000 bit/s, although 100000000 bit/s was set"},
        Change{"OtherBurst", Place::kHost1, "",
               "qdisc change dev eth0 root handle 1: tbf rate 100mbit burst 64kb limit 1048576\n",
               "the burst of eth0 is 6"},
        Change{"OtherQueue", Place::kHost1, "",
               "qdisc change dev eth0 root handle 1: tbf rate 100mbit burst 32kb limit 1100000\n",
               "the queue of eth0 is "},
        Change{"NoShaper", Place::kHost1, "", "qdisc del dev eth0 root\n",
               "the queueing of eth0 is noqueue, although tbf was set"},
        Change{"OtherDiscipline", Place::kHost1, "", "qdisc replace dev eth0 root pfifo\n",
               "the queueing of eth0 is pfifo, although tbf was set"},
        Change{"OneMoreDiscipline", Place::kHost1, "",
               "qdisc add dev eth0 parent 1:1 handle 10: pfifo\n",
               "the queueing of eth0 is tbf, pfifo, although tbf was set"},
        Change{"OtherRateOfAPort", Place::kSwitchOfRack1, "",
               "qdisc change dev port2 root handle 1: tbf rate 50mbit burst 32kb limit 1048576\n",
               "the switch of rack 1: the rate of port2 is 50000000 bit/s"},
        Change{"OtherRateOfAnUplink", Place::kSwitchOfRack1, "",
               "qdisc change dev uplink root handle 1: tbf rate 100mbit burst 32kb limit 1048576\n",
               "the rate of uplink is 100000000 bit/s, although 50000000 bit/s was set"},
        Change{"OtherRateOfARack", Place::kSpine, "",
               "qdisc change dev rack1 root handle 1: tbf rate 100mbit burst 32kb limit 1048576\n",
               "the switch of the racks: the rate of rack1 is 100000000 bit/s"}),
    [](const auto& test) { return std::string(test.param.name); });

class SettingsCheckTest : public EmulatedTest {};

TEST_F(SettingsCheckTest, SeesThatAKernelSettingIsNotInForce) {
  const Lab lab(RackPlan());
  for (const Place place : {Place::kHost1, Place::kSwitchOfRack1, Place::kSpine}) {
    const Node node = NodeAt(lab, place);
    node.where->SetKernelSetting(kSlowStartAfterIdle, "1");
    EXPECT_THAT(Refusal(node), HasSubstr("tcp_slow_start_after_idle is 1, although 0 was set"));
  }
}

TEST_F(SettingsCheckTest, ALabHasTheRatesThatWereAskedFor) {
  // The constructor reads them back. The kernel rounds most at very high rates.
  for (const std::string rate : {"1Mbps", "1234567bps", "10Gbps", "99Gbps", "1Tbps"}) {
    EXPECT_NO_THROW(Lab(PlanNetwork(ParseNetwork(rate), 2, 0))) << rate;
  }
}

TEST_F(SettingsCheckTest, AnAnswerThatIsNoneIsAnError) {
  const NetNamespace where = NetNamespace::Make();
  EXPECT_EQ(AskIp(where, "link show\n").size(), 1u);
  EXPECT_THROW(AskIp(where, "-V\n"), MissingBackendError);
}

/// What tc says of a link with 1 ms of latency, 0.1 ms of jitter and 0.1 % of loss.
constexpr char kDelayed[] = R"([
  {"kind": "netem", "handle": "1:", "root": true,
   "options": {"limit": 100000, "delay": {"delay": 0.001, "jitter": 0.0001, "correlation": 0},
               "loss-random": {"loss": 0.001, "correlation": 0}}},
  {"kind": "tbf", "handle": "10:", "parent": "1:1",
   "options": {"rate": 12500000, "burst": 32762, "lat": 1339556}}])";

/// A value of `kDelayed` that is replaced, and the message that the check then gives.
struct WrongAnswer {
  const char* pointer;
  double value;
  const char* message;
};

void PrintTo(const WrongAnswer& wrong, std::ostream* out) { *out << wrong.pointer; }

PortSettings DelayedPort() {
  return HostSettings(
             PlanNetwork(ParseNetwork("100Mbps,latency=1ms,jitter=0.1ms,loss=0.1%"), 2, 0))[0]
      .ports[0];
}

// Kernels without netem cannot run these lines.
TEST(NodeSettingsTest, DelaysComeBeforeTheShaper) {
  NodeSettings node;
  node.ports = {DelayedPort()};
  EXPECT_EQ(TcScript(node),
            "qdisc add dev eth0 root handle 1: netem limit 100000 delay 1000.000us 100.000us loss "
            "0.100000%\n"
            "qdisc add dev eth0 parent 1:1 handle 10: tbf rate 100000000bit burst 32768b limit "
            "16777216\n");
  EXPECT_EQ(DelayedPort().gso_max_segs, 1) << "single packets are lost";
}

TEST(NodeSettingsTest, APacketIsABundleOfSegments) {
  EXPECT_EQ(MostSegmentsOfAPacket(PlanNetwork(ParseNetwork("100Mbps"), 2, 0)), 20) << "28 KiB";
  EXPECT_EQ(MostSegmentsOfAPacket(PlanNetwork(ParseNetwork("10Gbps"), 2, 0)), 46) << "64 KiB";
  EXPECT_EQ(MostSegmentsOfAPacket(PlanNetwork(ParseNetwork("100Mbps,loss=1%"), 2, 0)), 1);
}

class DelaysCheck : public ::testing::TestWithParam<WrongAnswer> {};

TEST_P(DelaysCheck, SeesThatASettingIsNotInForce) {
  const nlohmann::json right = nlohmann::json::parse(kDelayed);
  EXPECT_NO_THROW(CheckDisciplines("host 0", DelayedPort(), right));
  nlohmann::json wrong = right;
  wrong[nlohmann::json::json_pointer(GetParam().pointer)] = GetParam().value;
  try {
    CheckDisciplines("host 0", DelayedPort(), wrong);
    FAIL() << "taken";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, DelaysCheck,
    ::testing::Values(
        WrongAnswer{"/0/options/limit", 1000, "host 0: the most delayed packets of eth0 is 1000"},
        WrongAnswer{"/0/options/delay/delay", 0.002, "the latency of eth0 is 0.002 s, although"},
        WrongAnswer{"/0/options/delay/jitter", 0, "the jitter of eth0 is 0 s, although 0.0001 s"},
        WrongAnswer{"/0/options/loss-random/loss", 0.01, "the loss of eth0 is 0.01 of the packets"},
        WrongAnswer{"/1/options/rate", 25e6, "the rate of eth0 is 200000000 bit/s"},
        WrongAnswer{"/1/options/burst", 65536, "the burst of eth0 is 65536 bytes"},
        WrongAnswer{"/1/options/lat", 50000, "the queue of eth0 is 657762 bytes"}));

TEST(DelaysCheckTest, SeesThatPacketsAreNotDelayedAtAll) {
  nlohmann::json alone = nlohmann::json::parse(kDelayed);
  alone.erase(0);
  alone[0]["root"] = true;
  try {
    CheckDisciplines("host 0", DelayedPort(), alone);
    FAIL() << "taken";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the queueing of eth0 is tbf, although netem, tbf was"));
  }
}

/// Puts a program called `tc` before the real one, for its lifetime. It changes a script with sed
/// before the real one reads it.
class ChangedTc {
 public:
  explicit ChangedTc(const std::string& sed)
      : path_(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH")) {
    const std::string real = FindProgram("tc");
    const std::string program = directory_.path() + "/tc";
    std::ofstream(program) << "#!/bin/sh\n"
                           << "[ \"$1\" = -batch ] || exec " << real << " \"$@\"\n"
                           << "sed '" << sed << "' \"$2\" | " << real << " -batch -\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("PATH", (directory_.path() + ":" + path_).c_str(), 1);
  }
  ~ChangedTc() { ::setenv("PATH", path_.c_str(), 1); }
  ChangedTc(const ChangedTc&) = delete;
  ChangedTc& operator=(const ChangedTc&) = delete;

 private:
  const TemporaryDirectory directory_;
  const std::string path_;
};

class LabCheck : public EmulatedTest {};

// The machine can emulate networks all the same.
TEST_F(LabCheck, AToolThatIsKilledSaysNothingAboutTheMachine) {
  const TemporaryDirectory directory;
  const std::string program = directory.path() + "/tc";
  std::ofstream(program) << "#!/bin/sh\nkill -9 $$\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const ScopedVariable path("PATH", directory.path() + ":" + std::getenv("PATH"));
  try {
    WhyNoLab(ParseNetwork("100Mbps"));
    FAIL() << "a reason or none";
  } catch (const KilledProgramError& error) {
    EXPECT_EQ(error.what(), program + " was killed by signal 9");
  }
}

TEST_F(LabCheck, IsMadeOfEveryNode) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("100Mbps"), 2, 0);
  EXPECT_NO_THROW(Lab{plan});
  const ChangedTc other_rate("s/rate [0-9]*bit/rate 50000000bit/");
  try {
    const Lab lab(plan);
    FAIL() << "a lab with half of the rate";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("host 0: the rate of"));
    EXPECT_THAT(error.what(), HasSubstr("is 50000000 bit/s, although 100000000 bit/s was set"));
  }
}

// Only the ports of a switch have devices of this name.
TEST_F(LabCheck, IsMadeOfSwitchesToo) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("100Mbps"), 2, 0);
  const ChangedTc other_burst("/dev eth0 /!s/burst [0-9]*b/burst 65536b/");
  try {
    const Lab lab(plan);
    FAIL() << "a switch with another burst";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the switch: the burst of"));
  }
}

}  // namespace
}  // namespace ringside
