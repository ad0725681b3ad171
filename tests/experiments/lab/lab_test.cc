// Tests emulated hosts and their links, if this process may make namespaces.
#include "ringside/experiments/lab/lab.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/calibration.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/lab/iproute.h"
#include "ringside/experiments/system/network/tcp_connections.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/lab/emulated_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class LabTest : public EmulatedTest {};

TEST_F(LabTest, LinksCarryTheirRatesInBothDirectionsAndNoMore) {
  const Lab lab(PlanNetwork(ParseNetwork("hosts=2,rates=20Mbps:40Mbps"), 2, 0));
  const std::vector<LinkCalibration> links = CalibrateLinks(lab);
  ASSERT_EQ(links.size(), 2u);
  for (const LinkCalibration& link : links) {
    EXPECT_GT(link.sent_bytes_per_s, 0);
    EXPECT_GT(link.received_bytes_per_s, 0);
    // Other load only slows a link down. Only a link without a shaper carries this much more.
    EXPECT_LT(link.sent_bytes_per_s, 1.5 * link.expected_bytes_per_s);
    EXPECT_LT(link.received_bytes_per_s, 1.5 * link.expected_bytes_per_s);
    ASSERT_TRUE(link.round_trip_s.has_value());
    EXPECT_GT(*link.round_trip_s, 0);
  }
}

TEST(NetworkRecord, HasItsFiguresInDilatedTime) {
  const LinkCalibration link{.host = 0,
                             .rate_bits_per_s = 1e6,
                             .expected_bytes_per_s = 1e5,
                             .sent_bytes_per_s = 2e5,
                             .received_bytes_per_s = 1e5,
                             .round_trip_s = 50e-6};
  const nlohmann::json record = NetworkRecord(ParseNetwork("10Mbps"), {link, {.host = 1}}, 10);
  const nlohmann::json& row = record.at("links").at(0);
  EXPECT_EQ(row.at("rate_bits_per_s"), 1e7);
  EXPECT_EQ(row.at("sent_bytes_per_s"), 2e6);
  EXPECT_DOUBLE_EQ(row.at("round_trip_us"), 5);
  EXPECT_EQ(record.at("links").at(1).at("round_trip_us"), nullptr) << "it was not measured";
}

TEST_F(LabTest, RacksHaveUplinks) {
  const Lab lab(PlanNetwork(ParseNetwork("100Mbps,racks=2,uplink=20Mbps"), 4, 0));
  const std::vector<LinkCalibration> links = CalibrateLinks(lab);
  ASSERT_EQ(links.size(), 6u);
  EXPECT_EQ(links[4].uplink, 0);
  EXPECT_EQ(links[5].uplink, 1);
  EXPECT_LT(links[5].sent_bytes_per_s, 1.5 * links[5].expected_bytes_per_s);
  EXPECT_LT(links[5].expected_bytes_per_s, links[0].expected_bytes_per_s);
}

TEST_F(LabTest, TwoCoexist) {
  const Lab one(PlanNetwork(ParseNetwork("100Mbps"), 2, 0));
  const Lab other(PlanNetwork(ParseNetwork("100Mbps"), 2, 0));
  EXPECT_EQ(CalibrateLinks(one).size(), 2u);
  EXPECT_EQ(CalibrateLinks(other).size(), 2u);
}

/// A TCP connection between two namespaces, by an IPv6 socket that also takes IPv4.
struct TestConnection {
  FileDescriptor listener;
  FileDescriptor sender;
  FileDescriptor receiver;
};

TestConnection Connect(const NetNamespace& from, const NetNamespace& to,
                       const std::string& to_address) {
  TestConnection made;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  socklen_t length = sizeof(any);
  {
    const NamespaceScope inside(to.fd());
    made.listener = FileDescriptor(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  auto* bound = reinterpret_cast<sockaddr*>(&any);
  EXPECT_EQ(::bind(made.listener.get(), bound, length), 0);
  EXPECT_EQ(::listen(made.listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(made.listener.get(), bound, &length), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = any.sin6_port;
  EXPECT_EQ(::inet_pton(AF_INET, to_address.c_str(), &address.sin_addr), 1);
  {
    const NamespaceScope inside(from.fd());
    made.sender = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  EXPECT_EQ(
      ::connect(made.sender.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
      0);
  made.receiver = FileDescriptor(::accept4(made.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  EXPECT_GE(made.receiver.get(), 0);
  return made;
}

/// "10.83.0.1 to 10.83.0.2 by cubic" for each end of a connection in a namespace.
std::vector<std::string> EndsIn(const NetNamespace& where) {
  std::vector<std::string> ends;
  for (const TcpConnectionEnd& end : TcpConnections(where).List()) {
    ends.push_back(end.local_address + " to " + end.remote_address + " by " +
                   end.congestion_control);
    EXPECT_NE(end.local_port, 0);
    EXPECT_NE(end.remote_port, 0);
  }
  return ends;
}

TEST_F(LabTest, EveryConnectionUsesTheCongestionControlThatWasAskedFor) {
  const std::vector<std::string> names = ProbeLab().congestion_controls;
  ASSERT_THAT(names, ::testing::IsSupersetOf({"cubic", "reno"}));
  for (const std::string& name : names) {
    const Lab lab(PlanNetwork(ParseNetwork("100Mbps,congestion=" + name), 2, 0));
    for (const LinkCalibration& link : CalibrateLinks(lab)) {
      EXPECT_EQ(link.congestion_control, name);
    }
    // Calibrations may leave connections that are being closed, but none that is established.
    EXPECT_TRUE(EndsIn(lab.host(0)).empty());
    const TestConnection to_other = Connect(lab.host(0), lab.host(1), "10.83.0.2");
    const TestConnection to_itself = Connect(lab.host(1), lab.host(1), "10.83.0.2");
    EXPECT_THAT(EndsIn(lab.host(0)), ::testing::ElementsAre("10.83.0.1 to 10.83.0.2 by " + name));
    const std::string itself = "10.83.0.2 to 10.83.0.2 by " + name;
    EXPECT_THAT(EndsIn(lab.host(1)), ::testing::UnorderedElementsAre(
                                         "10.83.0.2 to 10.83.0.1 by " + name, itself, itself));
  }
}

TEST_F(LabTest, ALinkWithAnotherCongestionControlIsRefused) {
  const Lab lab(PlanNetwork(ParseNetwork("100Mbps"), 2, 0));
  RunIp(lab.host(1),
        "route replace 10.83.0.0/16 dev eth0 proto kernel scope link src 10.83.0.2 congctl reno\n");
  try {
    CalibrateLinks(lab);
    FAIL() << "taken";
  } catch (const MissingBackendError& error) {
    EXPECT_STREQ(error.what(), "host 1: TCP uses reno on its link, although cubic was set");
  }
}

// On a busy machine a bridge sees late that a port has a carrier. A bridge without an up port does
// the same.
TEST_F(LabTest, ALinkThatCarriesLateIsWaitedFor) {
  const Lab lab(PlanNetwork(ParseNetwork("100Mbps"), 2, 0));
  const NetNamespace& bridge = *lab.links().front().switch_namespace;
  RunIp(bridge, "link set dev port0 down\n");
  // The kernel gives up after some seconds without an answer.
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::seconds(9));
    RunIp(bridge, "link set dev port0 up\n");
  });
  EXPECT_NO_THROW(EXPECT_EQ(CalibrateLinks(lab).size(), 2U));
  later.join();
}

TEST_F(LabTest, ManyConnectionsAreAllListed) {
  const Lab lab(PlanNetwork(ParseNetwork("100Mbps"), 2, 0));
  // Their list is longer than one answer of the kernel.
  std::vector<TestConnection> connections;
  for (int i = 0; i < 200; ++i) {
    connections.push_back(Connect(lab.host(0), lab.host(1), "10.83.0.2"));
  }
  EXPECT_EQ(EndsIn(lab.host(0)).size(), 200u);
  EXPECT_EQ(EndsIn(lab.host(1)).size(), 200u);
}

TEST_F(LabTest, AKernelSettingThatIsRefusedIsToldWithItsFile) {
  const NetNamespace where = NetNamespace::Make();
  where.SetKernelSetting("ipv4/tcp_slow_start_after_idle", "0");
  EXPECT_EQ(where.KernelSetting("ipv4/tcp_slow_start_after_idle"), "0");
  where.SetKernelSetting("ipv4/tcp_slow_start_after_idle", "1");
  EXPECT_EQ(where.KernelSetting("ipv4/tcp_slow_start_after_idle"), "1");
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
      return "taken";
    } catch (const MissingBackendError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message([&] { where.SetKernelSetting("ipv4/tcp_congestion_control", "nosuch"); }),
              HasSubstr("/proc/sys/net/ipv4/tcp_congestion_control cannot be set to nosuch: "));
  EXPECT_THAT(message([&] { where.SetKernelSetting("ipv4/nosuch", "1"); }),
              HasSubstr("/proc/sys/net/ipv4/nosuch cannot be set to 1: "));
  EXPECT_THAT(message([&] { where.KernelSetting("ipv4/nosuch"); }),
              HasSubstr("/proc/sys/net/ipv4/nosuch cannot be read: "));
}

struct Stopped {};

TEST_F(LabTest, BuildingAndCalibratingStopWhereTheyAreAskedTo) {
  const NetworkPlan plan = PlanNetwork(ParseNetwork("100Mbps,racks=2,uplink=20Mbps"), 4, 0);
  int asked = 0;
  const StopCheck count = [&] { ++asked; };
  const Lab lab(plan, count);
  EXPECT_GE(asked, 4);
  const StopCheck stop = [] { throw Stopped(); };
  EXPECT_THROW(Lab(plan, stop), Stopped);
  // Here the threads of the measurement are also running.
  for (int calls = 0; calls < 20; calls += 4) {
    int left = calls;
    const StopCheck later = [&] {
      if (left-- == 0) throw Stopped();
    };
    EXPECT_THROW(CalibrateLinks(lab, later), Stopped) << calls;
  }
}

TEST_F(LabTest, ThreadsThatCannotBeHadAreAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than can be counted here";
#endif
  const Lab lab(PlanNetwork(ParseNetwork("20Mbps"), 2, 0));
  // The limit leaves room for the stack of the first thread but not of another.
  constexpr std::size_t kStack = std::size_t{1} << 30;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  pthread_attr_t before;
  pthread_attr_t large;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(::pthread_getattr_default_np(&large), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&large, kStack), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&large), 0);
  rlimit memory{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &memory), 0);
  rlimit less = memory;
  less.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + kStack + kStack / 2;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &less), 0);
  std::string message;
  try {
    CalibrateLinks(lab);
  } catch (const CommError& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_AS, &memory);
  ::pthread_setattr_default_np(&before);
  EXPECT_THAT(message, HasSubstr("starting a thread"));
  EXPECT_THAT(message, HasSubstr("host 0"));
}

/// The outcome of `action` in a process of its own; absent if the process was killed.
template <typename Outcome>
Outcome InChild(Outcome (*action)()) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(static_cast<int>(action()));
  int status = 0;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  return static_cast<Outcome>(ended ? WEXITSTATUS(status) : -1);
}

bool BecomeNobody() {
  constexpr uid_t kNobody = 65534;
  return ::setresgid(kNobody, kNobody, kNobody) == 0 && ::setresuid(kNobody, kNobody, kNobody) == 0;
}

enum class Entered : int { kRefusedCleanly, kPermitted, kHalfWay, kNotTried };

/// Calls `EnterUserNamespace` in a process that may make a user namespace but not map its ids: one
/// of user nobody that cannot open its own files in /proc.
Entered EnterAsNobody() {
  if (!BecomeNobody()) return Entered::kNotTried;
  const auto own = [] {
    ::prctl(PR_SET_DUMPABLE, 1);
    const std::string namespaces = fs::read_symlink("/proc/self/ns/user").string() +
                                   fs::read_symlink("/proc/self/ns/net").string();
    ::prctl(PR_SET_DUMPABLE, 0);
    return namespaces;
  };
  const std::string before = own();
  if (EnterUserNamespace().empty()) return Entered::kPermitted;
  return own() == before ? Entered::kRefusedCleanly : Entered::kHalfWay;
}

TEST(UserNamespaceTest, WhereItCannotBeMappedTheProcessStaysOutside) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  EXPECT_EQ(InChild(EnterAsNobody), Entered::kRefusedCleanly);
}

enum class Emulated : int { kDone, kOutside, kRefused, kNotTried };

/// Does what a run on emulated hosts does before its processes start, as user nobody. The process
/// can open its own files in /proc, like that of any user without root.
Emulated EmulateAsNobody() {
  if (!BecomeNobody()) return Emulated::kNotTried;
  ::prctl(PR_SET_DUMPABLE, 1);
  try {
    const NetworkSpec spec = ParseNetwork("100Mbps");
    if (const std::string reason = WhyNoLab(spec); !reason.empty()) {
      throw MissingBackendError(reason);
    }
    // The process is root in the new user namespace.
    if (::geteuid() != 0) return Emulated::kOutside;
    const Lab lab(PlanNetwork(spec, 2, 0));
    return CalibrateLinks(lab).size() == 2 ? Emulated::kDone : Emulated::kRefused;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "as nobody: %s\n", error.what());
    return Emulated::kRefused;
  }
}

struct KernelRule {
  const char* path;
  int forbids;  ///< The value under which users without root have no user namespaces.
};

/// The reason why user nobody cannot have emulated hosts here; empty when none is known.
std::string WhyNotAsNobody() {
  if (::geteuid() != 0) return "only root can become nobody";
  if (!RootIsAMount()) return "chroot keeps this process out of user namespaces";
#if defined(__SANITIZE_THREAD__)
  return "ThreadSanitizer's own thread keeps a process out of user namespaces";
#else
  for (const KernelRule& rule :
       {KernelRule{"/proc/sys/kernel/unprivileged_userns_clone", 0},
        KernelRule{"/proc/sys/user/max_user_namespaces", 0},
        KernelRule{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1}}) {
    std::ifstream file(rule.path);
    int value = 0;
    if (!(file >> value) || value != rule.forbids) continue;
    return std::string(rule.path) + " is " + std::to_string(value);
  }
  const LabSupport of_root = ProbeLab();
  return of_root.hosts.empty() ? of_root.rates : of_root.hosts;
#endif
}

TEST(UserNamespaceTest, WhereItCanBeMappedUsersWithoutRootHaveHosts) {
  const std::string reason = WhyNotAsNobody();
  if (!reason.empty()) GTEST_SKIP() << reason;
  EXPECT_EQ(InChild(EmulateAsNobody), Emulated::kDone);
}

TEST_F(LabTest, ANamespaceGoesWithItsOwnerAndTakesItsDevices) {
  const NetNamespace kept = NetNamespace::Make();
  {
    const NetNamespace gone = NetNamespace::Make();
    RunIp(kept, "link add there type veth peer name here netns " + gone.path() + "\n");
    RunIp(kept, "link show dev there\n");
  }
  WaitUntil("the end of a device whose peer is gone", [&] {
    try {
      RunIp(kept, "link show dev there\n");
      return false;
    } catch (const MissingBackendError&) {
      return true;
    }
  });
}

TEST_F(LabTest, WhatToolsRefuseIsToldInALine) {
  try {
    RunIp(NetNamespace::Make(), "link set dev nothing up\n");
    FAIL() << "taken";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nothing"));
  }
}

TEST(LinkCalibrationTest, OneThatIsFurtherOffThanItsToleranceIsMarked) {
  LinkCalibration link{.host = 0,
                       .rate_bits_per_s = 1e9,
                       .expected_bytes_per_s = 100,
                       .sent_bytes_per_s = 100,
                       .received_bytes_per_s = 96,
                       .congestion_control = "cubic"};
  EXPECT_NEAR(link.error(), 0.04, 1e-9);
  EXPECT_TRUE(link.ok());
  EXPECT_EQ(NetworkRecord(ParseNetwork("1Gbps"), {link}).at("ok"), true);
  link.sent_bytes_per_s = 106;
  EXPECT_FALSE(link.ok());
  const nlohmann::json record = NetworkRecord(ParseNetwork("1Gbps"), {link});
  EXPECT_EQ(record.at("ok"), false);
  EXPECT_EQ(record.at("schema"), "ringside.network/1");
  EXPECT_EQ(record.at("spec"), "1Gbps");
  EXPECT_EQ(record.at("congestion_control"), "cubic");
  EXPECT_EQ(record.at("connections"), nullptr);
  EXPECT_EQ(record.at("links").at(0).at("host"), 0);
  EXPECT_EQ(record.at("links").at(0).at("congestion_control"), "cubic");
}

TEST(LinkCalibrationTest, OneThatCannotBeJudgedIsNeitherRightNorWrong) {
  const LinkCalibration lossy{.host = 0,
                              .rate_bits_per_s = 1e9,
                              .expected_bytes_per_s = 100,
                              .sent_bytes_per_s = 30,
                              .received_bytes_per_s = 30,
                              .not_judged = "loss"};
  LinkCalibration uplink{.uplink = 0,
                         .rate_bits_per_s = 1e9,
                         .expected_bytes_per_s = 100,
                         .sent_bytes_per_s = 100,
                         .received_bytes_per_s = 100};
  const NetworkSpec spec = ParseNetwork("1Gbps,loss=1%");
  EXPECT_FALSE(lossy.ok());
  const nlohmann::json alone = NetworkRecord(spec, {lossy});
  EXPECT_EQ(alone.at("ok"), nullptr);
  EXPECT_EQ(alone.at("links").at(0).at("ok"), nullptr);
  EXPECT_EQ(alone.at("links").at(0).at("not_judged"), "loss");
  EXPECT_EQ(alone.at("links").at(0).at("sent_bytes_per_s"), 30);
  EXPECT_EQ(NetworkRecord(spec, {lossy, uplink}).at("ok"), true);
  uplink.sent_bytes_per_s = 50;
  EXPECT_EQ(NetworkRecord(spec, {lossy, uplink}).at("ok"), false);
}

}  // namespace
}  // namespace ringside
