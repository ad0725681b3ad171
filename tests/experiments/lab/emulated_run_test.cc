// Runs on emulated hosts through the command line, if this process may make namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "ringside/experiments/lab/emulation_support.h"
#include "tests/experiments/lab/emulated_run_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Whether a process handles a signal itself.
bool Catches(pid_t pid, int signal) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  return false;
}

/// Whether a process has a network namespace open. It has, from the first host that it makes.
bool HoldsAHost(pid_t pid) {
  std::error_code error;  // The process, or one of its files, may be gone.
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
    if (fs::read_symlink(entry.path(), error).string().starts_with("net:[")) return true;
  }
  return false;
}

/// The number of runs in a results folder that had an emulated network.
int NetworksIn(const std::string& directory) {
  int networks = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    networks += entry.path().filename() == "network.json" ? 1 : 0;
  }
  return networks;
}

TEST_F(EmulatedRunTest, ItsLinksAreThoseAskedForAndItSaysSo) {
  const nlohmann::json summary = Train("--strategy ring --workers 2 --network 100Mbps");
  EXPECT_EQ(summary.at("network"), "100Mbps");
  EXPECT_EQ(summary.at("hosts"), 2);
  EXPECT_EQ(summary.at("link_bits_per_s"), 1e8);
  EXPECT_TRUE(summary.at("link_ok").is_boolean());
  EXPECT_GT(summary.at("bound_ms"), 0);
  EXPECT_EQ(summary.at("achievable").at("tail_ms"), 0);
  EXPECT_GT(summary.at("facts").at("segment_bytes"), 0);
  EXPECT_GE(summary.at("achievable_ms"), summary.at("bound_ms"));
  const nlohmann::json network = Read("network.json");
  EXPECT_EQ(network.at("links").size(), 2u);
  EXPECT_EQ(network.at("ok"), summary.at("link_ok"));
}

TEST_F(EmulatedRunTest, ServersHaveHostsOfTheirOwn) {
  Train("--strategy ps-sync --workers 2 --servers 2 --network 100Mbps");
  EXPECT_EQ(Read("network.json").at("links").size(), 4u);
  Train("--strategy ps-sync --workers 2 --servers 1 --network 100Mbps,servers=workers");
  EXPECT_EQ(Read("network.json").at("links").size(), 2u);
}

TEST_F(EmulatedRunTest, WorkersOfOneHostShareMemory) {
  const nlohmann::json summary =
      Train("--strategy hierarchical --workers 4 --network hosts=2,rate=100Mbps");
  EXPECT_EQ(summary.at("hosts"), 2);
  Train("--strategy shm --workers 2 --network hosts=1,rate=100Mbps");
}

TEST_F(EmulatedRunTest, RacksReachEachOther) {
  Train("--strategy ring --workers 4 --network 100Mbps,racks=2,uplink=50Mbps");
}

TEST_F(EmulatedRunTest, ADilatedRunReportsDilatedTimesOfTheSameWork) {
  const std::string args =
      "--strategy ps-sync --workers 2 --servers 1 --network 1Gbps --compute-ms 200";
  const nlohmann::json plain = Train(args);
  const nlohmann::json dilated = Train(args + " --dilation 5");
  const double step_ms = dilated.at("step_ms").at("median");
  EXPECT_GE(step_ms, 200);
  // The watch has the machine's clock. It sees the two counted steps.
  const double judged_ms = 1000 * dilated.at("fidelity").at("judged_seconds").get<double>();
  EXPECT_GE(judged_ms, 0.99 * 2 * 5 * 200);
  EXPECT_LE(2 * 5 * step_ms, 1.05 * judged_ms) << "steps that are not in dilated time are longer";
  EXPECT_NEAR(dilated.at("dilation").at("wall_step_ms"), 5 * step_ms, 1e-6 * step_ms);
  EXPECT_EQ(dilated.at("dilation").at("factor"), 5);
  EXPECT_EQ(dilated.at("dilation").at("hosts"), 3);
  EXPECT_EQ(plain.at("dilation").at("factor"), 1);
  EXPECT_EQ(dilated.at("params_sha256"), plain.at("params_sha256"));
  EXPECT_EQ(dilated.at("bound_ms"), plain.at("bound_ms"));
  EXPECT_EQ(dilated.at("facts").at("slice_bytes"), plain.at("facts").at("slice_bytes"));
  const nlohmann::json network = Read("network.json");
  EXPECT_EQ(network.at("dilation"), 5);
  EXPECT_EQ(network.at("links").at(0).at("rate_bits_per_s"), 1e9);
  EXPECT_GT(network.at("links").at(0).at("sent_bytes_per_s"), 0.5e9 / 8) << "in dilated time";
}

TEST_F(EmulatedRunTest, AutomaticDilationSaysThatItsNetworkAllowsTooLittle) {
  // The second link would become slower than 1 Mbit/s. The workers send nothing.
  Process process =
      Start("train --steps 3 --model profile:small-tensors --strategy none --workers 2 --out " +
            bundle() + " --network rate=2Mbps,rates=400Gbps --dilation auto");
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("warning: dilation auto is 2, the most that this network"));
  const nlohmann::json dilation = Read("summary.json").at("dilation");
  EXPECT_EQ(dilation.at("factor"), 2);
  EXPECT_GT(dilation.at("needed"), 2);
}

TEST_F(EmulatedRunTest, ATraceOfADilatedRunIsInDilatedTime) {
  Train("--strategy ring --workers 2 --network 1Gbps --compute-ms 20 --dilation 5 --timeline");
  const nlohmann::json trace = Read("trace.json");
  const double forward_ms = 20.0 / 3;
  double shortest_ms = 1e9;  // The first forward pass waits for no communication.
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.value("name", "") == "forward") {
      shortest_ms = std::min(shortest_ms, event.at("dur").get<double>() / 1000);
    }
  }
  EXPECT_GE(shortest_ms, 0.99 * forward_ms);
  EXPECT_LT(shortest_ms, 5 * forward_ms) << "that is its length in the machine's time";
}

TEST_F(EmulatedRunTest, ABenchRunsThereToo) {
  Process process = Start(
      "bench --strategy ps-sync --workers 2 --network 100Mbps -b 4KiB -e 4KiB "
      "-n 2 -w 1 --quiet --json");
  const RunResult result = Finish(process);
  ASSERT_EQ(result.exit_code, 0) << result.output;
  // On a busy machine the other stream may first have a warning about links.
  const std::size_t begin = result.output.find('{');
  ASSERT_NE(begin, std::string::npos) << result.output;
  const auto json = nlohmann::json::parse(result.output.substr(begin), nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.output;
  EXPECT_EQ(json.at("rows").at(0).at("wrong"), 0);
  EXPECT_EQ(json.at("network").at("spec"), "100Mbps");
  EXPECT_EQ(json.at("network").at("links").size(), 3u);
}

TEST_F(EmulatedRunTest, AnInterruptWhileItsNetworkIsBuiltEndsItInOrder) {
  // The links are so slow that measuring them takes seconds.
  const std::string args = "--strategy ring --workers 4 --network 1Mbps --steps 1000000 --out " +
                           bundle() + " --model profile:small-tensors";
  for (const int signal : {SIGINT, SIGTERM}) {
    Process process = Start("train --quiet --force " + args);
    WaitUntil("a process that heeds signals", [&] { return Catches(process.pid(), signal); });
    ::kill(process.pid(), signal);
    const RunResult result = Finish(process);
    EXPECT_EQ(result.exit_code, 130) << result.output;
    EXPECT_THAT(result.output, HasSubstr("while its network was being built"));
    EXPECT_EQ(Read("summary.json").at("status"), "interrupted");
    EXPECT_EQ(Read("summary.json").at("link_ok"), nullptr);
    EXPECT_EQ(Read("summary.json").at("fidelity").at("verdict"), nullptr);
    EXPECT_TRUE(fs::exists(bundle() + "/spec.json"));
    EXPECT_FALSE(fs::exists(bundle() + "/processes.json"));
    EXPECT_TRUE(!fs::exists(scratch_.path() + "/ringside") ||
                fs::is_empty(scratch_.path() + "/ringside"));
  }
}

TEST_F(EmulatedRunTest, AMatrixIsInterruptedWhileANetworkIsBuilt) {
  const std::string spec = scratch_.path() + "/spec.yaml";
  std::ofstream(spec) << "name: slow\ndefaults: {model: 'profile:small-tensors', steps: 4, "
                         "strategy: ring, network: 1Mbps}\naxes: {workers: [2, 3]}\n";
  Process process = Start("matrix --quiet --out " + scratch_.path() + " " + spec);
  WaitUntil("the hosts of a run", [&] {  // Finding out what can be emulated makes hosts earlier.
    return Catches(process.pid(), SIGINT) && HoldsAHost(process.pid());
  });
  ::kill(process.pid(), SIGINT);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 130) << result.output;
  std::vector<std::string> states;
  for (const auto& entry : fs::recursive_directory_iterator(scratch_.path() + "/slow")) {
    if (entry.path().filename() != "summary.json") continue;
    std::ifstream in(entry.path());
    states.push_back(nlohmann::json::parse(in).at("status"));
  }
  EXPECT_THAT(states, ::testing::ElementsAre("interrupted"));
}

TEST_F(EmulatedRunTest, AnInterruptDrains) {
  Process process = StartTraining();
  ::kill(process.pid(), SIGINT);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 130) << result.output;
  EXPECT_THAT(result.output, HasSubstr("stopped after a common last step"));
  EXPECT_TRUE(fs::is_empty(scratch_.path() + "/ringside"));
}

TEST_F(EmulatedRunTest, TwoInterruptsKill) {
  Process process = StartTraining();
  ::kill(process.pid(), SIGINT);
  ::kill(process.pid(), SIGTERM);
  EXPECT_EQ(Finish(process).exit_code, 130);
  EXPECT_TRUE(fs::is_empty(scratch_.path() + "/ringside"));
}

TEST_F(EmulatedRunTest, AMemberThatIsKilledEndsItAndIsNamed) {
  Process process = StartTraining();
  ::kill(PidIn(bundle(), "worker 1"), SIGKILL);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("worker 1"));
}

TEST_F(EmulatedRunTest, AKilledLauncherTakesItsMembersAndTheNextRunItsSocket) {
  Process process = StartTraining();
  ::kill(process.pid(), SIGKILL);
  Finish(process);
  for (const pid_t pid : PidsIn(bundle())) {
    WaitUntil("the end of a member", [&] { return !IsAlive(pid); });
  }
  EXPECT_FALSE(fs::is_empty(scratch_.path() + "/ringside"));
  Train("--strategy ring --workers 2 --network 100Mbps");
}

TEST_F(EmulatedRunTest, AMatrixHasNetworksAsAnAxis) {
  const std::string spec = scratch_.path() + "/spec.yaml";
  std::ofstream(spec)
      << "name: links\ndefaults: {model: 'profile:small-tensors', steps: 4, workers: "
         "2, strategy: ring}\naxes:\n  network: [100Mbps, {rate: 200Mbps}]\n";
  Process process = Start("matrix --quiet --out " + scratch_.path() + " " + spec);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(NetworksIn(scratch_.path() + "/links"), 2);
}

TEST_F(EmulatedRunTest, AMatrixLeavesOutWhatCannotBeEmulatedWhenToldToKeepGoing) {
  if (ProbeLab().delays.empty()) GTEST_SKIP() << "this kernel has delays: nothing to refuse";
  const std::string spec = scratch_.path() + "/spec.yaml";
  std::ofstream(spec)
      << "name: late\ndefaults: {model: 'profile:small-tensors', steps: 4, workers: 2, "
         "strategy: ring}\naxes:\n  network: [100Mbps, {rate: 100Mbps, latency: 1ms}]\n";
  const std::string command = "matrix --quiet --out " + scratch_.path() + " " + spec;
  Process refused = Start(command);
  RunResult result = Finish(refused);
  EXPECT_EQ(result.exit_code, 4) << result.output;
  EXPECT_THAT(result.output, HasSubstr(spec + ":4:22: the network cannot be emulated here"));
  EXPECT_FALSE(fs::exists(scratch_.path() + "/late")) << "nothing started";
  Process process = Start(command + " --keep-going");
  result = Finish(process);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("left out ring workers=2 network="));
  EXPECT_EQ(NetworksIn(scratch_.path() + "/late"), 1);
}

TEST_F(EmulatedRunTest, WhatNamespacesAreRefusedToIsToldWhatToDo) {
  if (!RootIsAMount()) GTEST_SKIP() << "chroot keeps this process out of user namespaces";
  // The shell may make neither user namespaces nor network namespaces.
  const std::string limits =
      "echo 0 > /proc/sys/user/max_user_namespaces && echo 0 > /proc/sys/user/max_net_namespaces "
      "&& ";
  Process process({.argv = {"/usr/bin/unshare", "-Ur", "/bin/sh", "-c",
                            limits +
                                "exec " RINGSIDE_EXECUTABLE
                                " train --workers 2 --network 100Mbps --steps 2 --model "
                                "profile:small-tensors --out " +
                                bundle()}});
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 4) << result.output;
  EXPECT_THAT(result.output, HasSubstr("a network namespace cannot be made"));
  EXPECT_FALSE(fs::exists(bundle()));
}

struct Misuse {
  const char* args;
  int exit_code;
  const char* message;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << misuse.args; }

class EmulatedMisuse : public EmulatedRunTest, public ::testing::WithParamInterface<Misuse> {};

TEST_P(EmulatedMisuse, IsRefusedBeforeAnythingStarts) {
  Process process = Start("train --steps 2 --model profile:small-tensors --out " + bundle() + " " +
                          GetParam().args);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.output;
  EXPECT_THAT(result.output, HasSubstr(GetParam().message));
  EXPECT_FALSE(fs::exists(bundle()));
}

INSTANTIATE_TEST_SUITE_P(
    Table, EmulatedMisuse,
    ::testing::Values(
        Misuse{"--network hosts=0,rate=1Gbps", 2, "--network: hosts: give 1 to 250 hosts, not 0"},
        Misuse{"--network fast", 2, "--network: rate: 'fast'"},
        Misuse{"--workers 2 --network hosts=3,rate=1Gbps", 2, "3 hosts for 2 workers"},
        Misuse{"--network 1Gbps --link 2Gbps", 2, "omit link"},
        Misuse{"--network 1Gbps --address 127.0.0.1", 2, "omit address"},
        Misuse{"--strategy mpi --network 1Gbps", 2, "started by mpirun"},
        Misuse{"--network 1Gbps,congestion=Cubic", 2, "'Cubic' is no congestion control of TCP"},
        Misuse{"--network 1Gbps,congestion=nosuch", 4,
               "network: the network cannot be emulated here: the kernel has no congestion control "
               "'nosuch'; it has "},
        Misuse{"--network 1Gbps --dilation 0.5", 2, "--dilation: a factor of 0.5 would ask"},
        Misuse{"--network 100Mbps --dilation 500", 2,
               "--dilation: with a factor of 500, the slowest link would have 2e+05 bit/s"},
        Misuse{"--dilation 2", 2, "--dilation: only an emulated network can be slowed down"},
        Misuse{"--strategy ps-sync --network 1Gbps --slice-kb 8192", 2,
               "--slice-kb: 8192 KiB are more than a bucket has (4 MiB"},
        Misuse{"--strategy ps-sync --network 1Gbps --schedule priority --slice-kb 1024", 2,
               "KiB, which suits schedule 'priority' between these hosts)"}));

constexpr char kWithDelays[] = "--strategy ring --workers 2 --network 100Mbps,latency=1ms";

TEST_F(EmulatedRunTest, DelaysAreMade) {
  if (const std::string why_not = ProbeLab().delays; !why_not.empty()) GTEST_SKIP() << why_not;
  EXPECT_EQ(Train(kWithDelays).at("link_latency_s"), 0.001);
}

TEST_F(EmulatedRunTest, DelaysThatTheKernelLacksAreRefusedWithTheReason) {
  if (ProbeLab().delays.empty()) GTEST_SKIP() << "this kernel can delay packets (sch_netem)";
  Process process =
      Start("train --steps 2 --model profile:small-tensors --out " + bundle() + " " + kWithDelays);
  const RunResult result = Finish(process);
  EXPECT_EQ(result.exit_code, 4) << result.output;
  EXPECT_THAT(result.output, HasSubstr("sch_netem"));
  EXPECT_FALSE(fs::exists(bundle()));
}

}  // namespace
}  // namespace ringside
