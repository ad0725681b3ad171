// The congestion control of runs on emulated hosts, through the command line.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/find_program.h"
#include "tests/experiments/lab/emulated_run_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A run on two hosts, with another congestion control than the network's own or with it.
struct CongestionCase {
  const char* name;
  const char* strategy;
  const char* network;
  const char* congestion;
};

void PrintTo(const CongestionCase& wanted, std::ostream* out) { *out << wanted.name; }

/// Whether the kernel has it. Every kernel has cubic or reno; bbr is a module.
bool IsAvailable(const std::string& congestion) {
  std::ifstream names("/proc/sys/net/ipv4/tcp_available_congestion_control");
  return std::any_of(std::istream_iterator<std::string>(names), {},
                     [&](const std::string& name) { return name == congestion; });
}

class EmulatedCongestion : public EmulatedRunTest,
                           public ::testing::WithParamInterface<CongestionCase> {};

TEST_P(EmulatedCongestion, IsInForceOnEveryLinkAndConnection) {
  const std::string congestion = GetParam().congestion;
  Process process =
      Start(fmt::format("train --quiet --steps 6 --warmup-steps 1 --model profile:small-tensors "
                        "--workers 2 --out {} --strategy {} --network {}",
                        bundle(), GetParam().strategy, GetParam().network));
  const RunResult result = Finish(process);
  if (!IsAvailable(congestion)) {
    EXPECT_EQ(result.exit_code, 4) << result.output;
    EXPECT_THAT(result.output, HasSubstr(congestion));
    return;
  }
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const nlohmann::json network = Read("network.json");
  EXPECT_EQ(network.at("spec"), GetParam().network);
  EXPECT_EQ(network.at("congestion_control"), congestion);
  EXPECT_EQ(network.at("links").size(), 2u);
  for (const auto& link : network.at("links")) {
    EXPECT_EQ(link.at("congestion_control"), congestion);
  }
  ASSERT_TRUE(network.at("connections").is_object()) << network;
  EXPECT_EQ(network.at("connections").at("congestion_control"), congestion);
  // A connection between two hosts has an end in each.
  EXPECT_GE(network.at("connections").at("ends"), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Table, EmulatedCongestion,
    ::testing::Values(CongestionCase{"RingCubic", "ring", "100Mbps", "cubic"},
                      CongestionCase{"RingReno", "ring", "rate=100Mbps,congestion=reno", "reno"},
                      CongestionCase{"RingBbr", "ring", "rate=100Mbps,congestion=bbr", "bbr"},
                      CongestionCase{"ColocatedCubic", "ps-sync --servers colocated", "100Mbps",
                                     "cubic"},
                      CongestionCase{"ColocatedReno", "ps-sync --servers colocated",
                                     "rate=100Mbps,congestion=reno", "reno"},
                      CongestionCase{"OwnAddressReno", "ps-sync --servers 2",
                                     "rate=100Mbps,servers=workers,congestion=reno", "reno"}),
    [](const auto& test) { return std::string(test.param.name); });

/// Changes the congestion control of the first worker's host once it has processes. Returns false
/// when the worker was gone already.
bool ChooseRenoOnTheHostOf(pid_t worker) {
  const std::string path = fmt::format("/proc/{}/ns/net", worker);
  std::error_code gone;
  const fs::path space = fs::read_symlink(path, gone);
  // The machine's own routes must not change.
  if (gone || space == fs::read_symlink("/proc/self/ns/net")) return false;
  const FileDescriptor host(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (host.get() < 0) return false;
  Process ip({.argv = {FindProgram("ip"), "route", "replace", "10.83.0.0/16", "dev", "eth0",
                       "proto", "kernel", "scope", "link", "src", "10.83.0.1", "congctl", "reno"},
              .network_namespace = host.get()});
  WaitUntil("the end of ip", [&] { return ip.Poll().has_value(); });
  return ip.Poll()->signal == 0 && ip.Poll()->code == 0;
}

TEST_F(EmulatedRunTest, AConnectionWithAnotherCongestionControlEndsTheRun) {
  RunResult result;
  // The change must come after the start of the workers and before they connect.
  for (int attempt = 0; attempt < 10 && result.exit_code != 4; ++attempt) {
    fs::remove_all(bundle());
    Process process = Start(
        "train --quiet --strategy ring --workers 2 --network 100Mbps --steps 6 --model "
        "profile:small-tensors --out " +
        bundle());
    WaitUntil("the workers", [&] {
      return fs::exists(bundle() + "/processes.json") || process.Poll().has_value();
    });
    if (!process.Poll().has_value()) ChooseRenoOnTheHostOf(PidIn(bundle(), "worker 0"));
    result = Finish(process);
  }
  EXPECT_EQ(result.exit_code, 4) << result.output;
  EXPECT_THAT(result.output, HasSubstr("host 0: TCP uses reno from 10.83.0.1:"));
  EXPECT_THAT(result.output, HasSubstr("although cubic was set"));
  EXPECT_EQ(Read("summary.json").at("status"), "failed");
}

TEST_F(EmulatedRunTest, AMatrixHasCongestionControlsAsAnAxis) {
  const std::string spec = scratch_.path() + "/spec.yaml";
  std::ofstream(spec) << "name: tcp\ndefaults: {model: 'profile:small-tensors', steps: 4, workers: "
                         "2, strategy: ring}\naxes:\n  network: [{rate: 100Mbps, congestion: "
                         "cubic}, {rate: 100Mbps, congestion: reno}]\n";
  Process process = Start("matrix --quiet --out " + scratch_.path() + " " + spec);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(scratch_.path() + "/tcp")) {
    if (entry.path().filename() != "network.json") continue;
    std::ifstream in(entry.path());
    found.push_back(nlohmann::json::parse(in).at("congestion_control"));
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("cubic", "reno"));
}

TEST_F(EmulatedRunTest, DoctorSaysWhichCongestionControlsThereAre) {
  Process process = Start("doctor --json");
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  const nlohmann::json findings = nlohmann::json::parse(result.output).at("findings");
  const auto tcp = std::ranges::find_if(
      findings, [](const auto& finding) { return finding.at("name") == "emulated TCP"; });
  ASSERT_NE(tcp, findings.end()) << findings;
  EXPECT_EQ(tcp->at("ok"), true);
  for (const std::string name : {"cubic", "reno"}) {
    EXPECT_THAT(tcp->at("detail").get<std::string>(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace ringside
