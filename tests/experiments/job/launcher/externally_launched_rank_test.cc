// Tests jobs that another launcher has started, with real processes.
#include "ringside/experiments/job/launcher/externally_launched_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/common/test_certificates.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

TEST(JoinedJob, TheSpecsWorkersMustBeTheJobs) {
  const RankEnvironment ranks{
      .source = "mpirun", .rank = 0, .workers = 3, .local_workers = 3, .job_key = "job"};
  EXPECT_THROW(RunExternallyLaunchedRank(ProfileSpec("ring", 2, 3), {}, ranks, {}), ConfigError);
}

TEST(JoinedJob, AnOpenNetworkIsRefused) {
  const RankEnvironment ranks{.source = "torchrun",
                              .rank = 0,
                              .workers = 2,
                              .local_workers = 1,
                              .master_address = "192.0.2.1",
                              .master_port = 29500,
                              .job_key = "192.0.2.1:29500"};
  EXPECT_THROW(RunExternallyLaunchedRank(ProfileSpec("ring", 2, 3), {}, ranks, {}), ConfigError);
}

// The token would go there unencrypted, although this process listens on loopback alone.
TEST(JoinedJob, AnOpenWayToRankZeroIsRefused) {
  const TemporaryDirectory directory;
  const std::string token = directory.Path("token");
  WriteFileAtomically(token, std::string(64, 'a'), 0600);
  const RankEnvironment ranks{.source = "torchrun",
                              .rank = 1,
                              .workers = 2,
                              .local_workers = 1,
                              .master_address = "192.0.2.1",
                              .master_port = 29500,
                              .job_key = "192.0.2.1:29500"};
  const JobOptions options{.bundle_dir = "", .address_given = true};
  EXPECT_THAT(
      [&] {
        RunExternallyLaunchedRank(ProfileSpec("ring", 2, 3), options, ranks,
                                  {{"RINGSIDE_TOKEN_FILE", token}});
      },
      ::testing::ThrowsMessage<ConfigError>(HasSubstr("address 192.0.2.1 is not loopback")));
}

/// A port of 127.0.0.1 on which nobody listens.
int FreePort() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), raw, size) != 0 || ::getsockname(socket.get(), raw, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a free port");
  }
  return ntohs(address.sin_port);
}

/// Real processes of `ringside train`, as another launcher starts them.
class RealRanksTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  std::vector<std::string> TrainCommand(const std::string& strategy, int steps,
                                        const std::string& out) const {
    return {ProgramWithFaults(),
            "train",
            "--strategy",
            strategy,
            "--model",
            "profile:mobilenet-v2",
            "--compute-ms",
            "5",
            "--steps",
            std::to_string(steps),
            "--out",
            out};
  }

  /// Rank `rank` of two, or server `rank`, told of its rank as torchrun does.
  Process StartRank(int rank, const std::string& strategy, int steps,
                    const std::vector<std::string>& more_variables = {},
                    const std::string& directory = ".",
                    const std::vector<std::string>& more_flags = {},
                    const std::string& out = "") const {
    auto command = TrainCommand(strategy, steps, out.empty() ? bundle() : out);
    command.insert(command.end(), more_flags.begin(), more_flags.end());
    return StartRankOf(command, rank, more_variables, directory);
  }

  Process StartRankOf(const std::vector<std::string>& command, int rank,
                      const std::vector<std::string>& more_variables = {},
                      const std::string& directory = ".") const {
    std::vector<std::string> argv{"/usr/bin/env",
                                  "--chdir=" + directory,
                                  "RANK=" + std::to_string(rank),
                                  "WORLD_SIZE=2",
                                  "LOCAL_RANK=" + std::to_string(rank),
                                  "MASTER_ADDR=127.0.0.1",
                                  "MASTER_PORT=29500",
                                  "XDG_RUNTIME_DIR=" + directory_.path()};
    argv.insert(argv.end(), more_variables.begin(), more_variables.end());
    argv.insert(argv.end(), command.begin(), command.end());
    return Process({.argv = argv});
  }

  /// Reads its output until it ends.
  static ProcessEnd Finish(Process& process, std::string& output) {
    WaitUntil("the end of a rank", [&] {
      char buffer[4096];
      ssize_t count = 0;
      while ((count = ::read(process.output_fd(), buffer, sizeof(buffer))) > 0) {
        output.append(buffer, static_cast<std::size_t>(count));
      }
      return process.Poll().has_value();
    });
    return *process.Poll();
  }

  /// Its output names rank 0, which was found lost within the bound.
  static void ExpectRankZeroLost(const std::string& output) {
    EXPECT_THAT(output, HasSubstr("rank 0 at "));
    EXPECT_THAT(output, HasSubstr("which hosts the coordinator, is lost: it was silent for "));
    EXPECT_LE(CoordinatorSilence(output), 5) << output;
  }

  nlohmann::json Summary() const {
    return nlohmann::json::parse(ReadFile(bundle() + "/summary.json", 1 << 20));
  }

  const TemporaryDirectory directory_;
};

TEST_F(RealRanksTest, TorchrunStyleRanksMeet) {
  for (const char* strategy : {"ring", "ps-sync"}) {
    std::filesystem::remove_all(bundle());
    // Rank 1 comes first and waits.
    Process second = StartRank(1, strategy, 4);
    Process first = StartRank(0, strategy, 4);
    std::string output;
    EXPECT_EQ(Finish(first, output).code, 0) << output;
    EXPECT_EQ(Finish(second, output).code, 0) << output;
    EXPECT_EQ(Summary()["status"], "done");
    EXPECT_EQ(Summary()["workers"], 2);
    EXPECT_EQ(Summary()["launcher"], "torchrun");
    EXPECT_EQ(Summary()["steps"], 4);
    EXPECT_TRUE(std::filesystem::is_empty(directory_.path() + "/ringside"));
  }
}

// The difference must be found at the start. Ranks with more steps would wait for ever.
TEST_F(RealRanksTest, OtherCheckpointsUnderOneNameAreRefused) {
  namespace fs = std::filesystem;
  RunSpec spec = ProfileSpec("ring", 1, 3);
  spec.model = "profile:mobilenet-v2";
  spec.checkpoint_every = 1;
  spec.keep_checkpoints = 0;
  const std::string whole = directory_.path() + "/whole";
  const JobOptions options{.bundle_dir = whole,
                           .show_progress = false,
                           .echo_logs = false,
                           .program = RingsideProgram()};
  ASSERT_EQ(RunJob(spec, options).status, JobStatus::kDone);
  std::vector<Process> ranks;
  for (const int rank : {1, 0}) {
    const std::string own = directory_.path() + "/rank" + std::to_string(rank);
    fs::create_directory(own);
    fs::copy_file(whole + "/checkpoints/step-" + std::to_string(rank + 1) + ".ckpt",
                  own + "/start.ckpt");
    ranks.push_back(StartRank(rank, "ps-sync", 4, {"RINGSIDE_RESUME=start.ckpt"}, own));
  }
  std::string output;
  for (Process& process : ranks) EXPECT_EQ(Finish(process, output).code, 2) << output;
  EXPECT_THAT(Summary()["error"].get<std::string>(), HasSubstr("the checkpoint's steps differ"));
}

TEST_F(RealRanksTest, ASecondProcessWithARankIsRefusedAndTheJobGoesOn) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  for (const int rank : {1, 0}) {
    const auto start = std::chrono::steady_clock::now();
    Process again = StartRank(rank, "ring", 100'000, {}, ".", {}, directory_.Path("another"));
    std::string output;
    EXPECT_EQ(Finish(again, output).code, 2) << output;
    EXPECT_THAT(output, HasSubstr("rank " + std::to_string(rank)));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  }
  Process same_bundle = StartRank(0, "ring", 100'000);
  std::string refused;
  EXPECT_EQ(Finish(same_bundle, refused).code, 1) << refused;
  EXPECT_THAT(refused, HasSubstr("another run is writing into " + bundle()));
  const int steps = StepsIn(bundle());
  WaitUntil("more steps", [&] { return StepsIn(bundle()) > steps; });
  first.Signal(SIGINT);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
}

// Ranks of several hosts have no file by which they would find each other.
TEST_F(RealRanksTest, ASecondRankZeroAtOneAddressIsRefused) {
  const std::string token = directory_.Path("token");
  WriteFileAtomically(token, std::string(64, 'a'), 0600);
  const std::string port = std::to_string(FreePort());
  const std::vector<std::string> variables{"RINGSIDE_TOKEN_FILE=" + token, "MASTER_PORT=" + port};
  Process first = StartRank(0, "ring", 100'000, variables);
  Process second = StartRank(1, "ring", 100'000, variables);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  Process again = StartRank(0, "ring", 100'000, variables);
  std::string output;
  EXPECT_EQ(Finish(again, output).code, 2) << output;
  EXPECT_THAT(output, HasSubstr("cannot listen on 127.0.0.1:" + port +
                                ": Address already in use; another rank 0 may have this port"));
  first.Signal(SIGINT);
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
}

TEST_F(RealRanksTest, ARankWithoutTheTokensFileIsNamedWithItsHost) {
  Process rank = StartRank(1, "ring", 4, {"RINGSIDE_TOKEN_FILE=" + directory_.Path("token")});
  std::string output;
  EXPECT_EQ(Finish(rank, output).code, 2);
  EXPECT_THAT(output,
              ::testing::ContainsRegex("rank 1 on [^ ]+: the file of the token, .* is not there"));
}

// A launcher that gives one rank twice gives another one to nobody.
TEST_F(RealRanksTest, TwoProcessesWithOneRankDoNotStartAJob) {
  const auto start = [&](int rank) {
    return StartRank(rank, "ring", 100'000, {"WORLD_SIZE=3"}, ".", {"--start-timeout", "5s"});
  };
  Process first = start(0);
  std::vector<Process> twins;
  for (int twin = 0; twin < 2; ++twin) twins.push_back(start(1));
  std::string output, twins_output;
  EXPECT_EQ(Finish(first, output).code, 1) << output;
  EXPECT_THAT(output, HasSubstr("worker 2 did not join"));
  std::vector<int> codes;
  for (Process& twin : twins) codes.push_back(Finish(twin, twins_output).code);
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(1, 2)) << twins_output;
  EXPECT_THAT(twins_output, HasSubstr("has joined already (pid "));
}

TEST_F(RealRanksTest, ServersJoinFromElsewhere) {
  const std::vector<std::string> worker{"RINGSIDE_ROLE=worker", "RINGSIDE_SERVERS=2"};
  const std::vector<std::string> server{"RINGSIDE_ROLE=server", "RINGSIDE_SERVERS=2"};
  std::vector<Process> all;
  all.push_back(StartRank(1, "ps-sync", 4, server));
  all.push_back(StartRank(1, "ps-sync", 4, worker));
  all.push_back(StartRank(0, "ps-sync", 4, worker));
  all.push_back(StartRank(0, "ps-sync", 4, server));
  std::string output;
  for (Process& process : all) EXPECT_EQ(Finish(process, output).code, 0) << output;
  EXPECT_EQ(Summary()["status"], "done");
  EXPECT_EQ(Summary()["servers"], 2);
  const auto processes = nlohmann::json::parse(ReadFile(bundle() + "/processes.json", 1 << 20));
  EXPECT_EQ(processes.size(), 1U) << "rank 0 starts its worker alone: " << processes;
}

TEST_F(RealRanksTest, TheDeathOfAServerElsewhereEndsTheJob) {
  Process server = StartRank(0, "ps-sync", 100'000, {"RINGSIDE_ROLE=server"});
  Process first = StartRank(0, "ps-sync", 100'000, {"RINGSIDE_ROLE=worker"});
  Process second = StartRank(1, "ps-sync", 100'000, {"RINGSIDE_ROLE=worker"});
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  server.Signal(SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 1) << output;
  EXPECT_EQ(Finish(second, output).code, 1) << output;
  EXPECT_THAT(output, HasSubstr("server 0"));
}

TEST_F(RealRanksTest, AServerThatTheJobDoesNotHaveIsRefused) {
  Process server = StartRank(3, "ps-sync", 4, {"RINGSIDE_ROLE=server"});
  std::string output;
  EXPECT_EQ(Finish(server, output).code, 2);
  EXPECT_THAT(output, HasSubstr("to be server 3, but the job has 1 dedicated servers"));
}

TEST_F(RealRanksTest, TheFailureOfOneRankEndsAllAndIsNamedEverywhere) {
  const ScopedVariable fault("RINGSIDE_FAULT", "kill@rank1:step3");
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  std::string first_output, second_output;
  EXPECT_EQ(Finish(first, first_output).code, 1) << first_output;
  EXPECT_EQ(Finish(second, second_output).code, 1) << second_output;
  EXPECT_THAT(first_output, HasSubstr("worker 1 (pid "));
  EXPECT_THAT(first_output, HasSubstr("was killed by signal 9"));
  EXPECT_THAT(second_output, HasSubstr("worker 1 (pid "));
  EXPECT_TRUE(ProcessesOfGroup(PidIn(bundle(), "worker 0")).empty());
}

TEST_F(RealRanksTest, WhatAProgramWroteLastIsInTheErrorOfEachRank) {
  const std::string program = "[ $RANK = 0 ] && exec sleep 60; echo no such data; exit 3";
  const std::vector<std::string> command{
      ProgramWithFaults(), "train", "--strategy", "ring", "--out", bundle(), "--",
      "/bin/sh",           "-c",    program};
  Process first = StartRankOf(command, 0);
  Process second = StartRankOf(command, 1);
  std::string first_output, second_output;
  EXPECT_EQ(Finish(first, first_output).code, 1) << first_output;
  EXPECT_EQ(Finish(second, second_output).code, 1) << second_output;
  for (const std::string& output : {first_output, second_output}) {
    EXPECT_THAT(output, ::testing::ContainsRegex("worker 1 \\(pid [0-9]+\\) exited with code 3 "
                                                 "before it handed in a result; "
                                                 "it wrote last: no such data"));
  }
}

// As on two hosts without a common file system: rank 0 sees nothing of the directory of rank 1. A
// worker of local SGD writes its own part only if its optimizer keeps something, such as momentum.
TEST_F(RealRanksTest, WhatAKilledWorkerLeavesInItsOwnDirectoryGoes) {
  const std::string own = directory_.Path("own");
  const std::string killed = directory_.Path("killed");
  const std::vector<std::string> flags{"--momentum",         "0.9", "--sync-every", "4",
                                       "--checkpoint-every", "2"};
  Process first = StartRank(0, "local-sgd", 100'000, {}, ".", flags);
  Process second =
      StartRank(1, "local-sgd", 100'000,
                {"LD_PRELOAD=" + DirectoryOfThisExecutable() + "/libringside_rename_shim.so",
                 "ASAN_OPTIONS=verify_asan_link_order=0", "RINGSIDE_FAULT_RENAME=2",
                 "RINGSIDE_FAULT_RENAME_PARTS=1", "RINGSIDE_FAULT_ONCE=" + killed},
                ".", flags, own);
  std::string first_output, second_output;
  EXPECT_EQ(Finish(first, first_output).code, 1) << first_output;
  EXPECT_EQ(Finish(second, second_output).code, 1) << second_output;
  EXPECT_THAT(second_output, HasSubstr("was killed by signal 9"));
  ASSERT_TRUE(std::filesystem::exists(killed)) << second_output;
  EXPECT_THAT(ReadFile(killed, 1 << 10), ::testing::StartsWith("step-4.worker-1.ckpt.tmp"));
  std::vector<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(own + "/checkpoints")) {
    left.push_back(file.path().filename());
  }
  EXPECT_THAT(left, ::testing::Each(::testing::EndsWith(".ckpt")));
  EXPECT_THAT(left, ::testing::Contains("step-2.worker-1.ckpt"));
}

TEST_F(RealRanksTest, AKilledAgentEndsTheJob) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  second.Signal(SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 1) << output;
  EXPECT_THAT(output, ::testing::ContainsRegex("(worker 1|agent of rank 1)"));
}

TEST_F(RealRanksTest, AFrozenRankThatHostsTheJobIsNamedByTheOthers) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  first.Signal(SIGSTOP);
  std::string output;
  EXPECT_EQ(Finish(second, output).code, 1) << output;
  ExpectRankZeroLost(output);
  first.Signal(SIGCONT);
  EXPECT_EQ(Finish(first, output).code, 1) << output;
}

TEST_F(RealRanksTest, AKilledRankThatHostsTheJobIsNamedByTheOthers) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  const pid_t worker = PidIn(bundle(), "worker 0");
  first.Signal(SIGKILL);
  std::string output;
  EXPECT_EQ(Finish(second, output).code, 1) << output;
  ExpectRankZeroLost(output);
  WaitUntil("the end of its worker", [&] { return ProcessesOfGroup(worker).empty(); });
  EXPECT_EQ(Finish(first, output).signal, SIGKILL);
}

TEST_F(RealRanksTest, ARefusedRankEndsTheJobAtOnce) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 5);  // another number of steps
  const auto start = std::chrono::steady_clock::now();
  std::string first_output, second_output;
  EXPECT_EQ(Finish(second, second_output).code, 2) << second_output;
  EXPECT_NE(Finish(first, first_output).code, 0) << first_output;
  EXPECT_THAT(first_output, HasSubstr("agent of rank 1: the job refused it: it was started with "
                                      "another spec"));
  // Not the 60 s for which rank 0 waits until all have joined.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// It refuses itself, before it joins.
TEST_F(RealRanksTest, ARankWithAWrongFlagEndsTheJobAtOnce) {
  Process first = StartRank(0, "ring", 100'000);
  WaitUntil("rank 0", [&] {
    const std::string directory = directory_.path() + "/ringside";
    return std::filesystem::exists(directory) && !std::filesystem::is_empty(directory);
  });
  Process second = StartRank(1, "ring", 100'000, {"RINGSIDE_WORKERS=3"});
  const auto start = std::chrono::steady_clock::now();
  std::string first_output, second_output;
  EXPECT_NE(Finish(second, second_output).code, 0);
  EXPECT_THAT(second_output, HasSubstr("the spec has 3 workers, but torchrun started 2 ranks"));
  EXPECT_NE(Finish(first, first_output).code, 0) << first_output;
  EXPECT_THAT(first_output, HasSubstr("agent of rank 1"));
  // Not the 60 s for which rank 0 waits until all have joined.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// Otherwise rank 0 would not hear it, and the token would go to whoever listens there.
TEST_F(RealRanksTest, ARankWithAWrongFlagTellsItEncryptedWhereTheJobIs) {
  const TestCertificates certificates;
  const std::string tls = "RINGSIDE_TLS=" + certificates.path();
  Process first = StartRank(0, "ring", 100'000, {tls});
  WaitUntil("rank 0", [&] {
    const std::string directory = directory_.path() + "/ringside";
    return std::filesystem::exists(directory) && !std::filesystem::is_empty(directory);
  });
  Process second = StartRank(1, "ring", 100'000, {tls, "RINGSIDE_WORKERS=3"});
  const auto start = std::chrono::steady_clock::now();
  std::string first_output, second_output;
  EXPECT_NE(Finish(second, second_output).code, 0);
  EXPECT_THAT(second_output, HasSubstr("the spec has 3 workers, but torchrun started 2 ranks"));
  EXPECT_NE(Finish(first, first_output).code, 0) << first_output;
  EXPECT_THAT(first_output, HasSubstr("agent of rank 1"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(RealRanksTest, AnInterruptOfAnyRankDrainsTheJob) {
  Process first = StartRank(0, "ring", 100'000);
  Process second = StartRank(1, "ring", 100'000);
  WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  second.Signal(SIGINT);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
  EXPECT_EQ(Summary()["status"], "interrupted");
}

/// As when a signal goes to all processes of a step. Rank 1 is at work, so the job does not stop
/// before the second signal.
TEST_F(RealRanksTest, OneInterruptOfEachRankKillsNone) {
  const std::vector<std::string> fault{"RINGSIDE_FAULT=stall@rank1:step3"};
  Process first = StartRank(0, "ring", 100'000, fault);
  Process second = StartRank(1, "ring", 100'000, fault);
  WaitUntil("the stall", [&] { return StepsIn(bundle()) >= 3; });
  second.Signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // an agent's beat comes meanwhile
  first.Signal(SIGINT);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
  EXPECT_EQ(Summary()["error"], "interrupted: stopped after a common last step");
}

TEST_F(RealRanksTest, AnInterruptKillsAJobThatDoesNotStopWithinTenSeconds) {
  const std::vector<std::string> fault{"RINGSIDE_FAULT=hang@rank1:step3"};
  Process first = StartRank(0, "ring", 100'000, fault);
  Process second = StartRank(1, "ring", 100'000, fault);
  WaitUntil("the hang", [&] { return StepsIn(bundle()) >= 3; });
  second.Signal(SIGINT);
  std::string output;
  EXPECT_EQ(Finish(first, output).code, 130) << output;
  EXPECT_EQ(Finish(second, output).code, 130) << output;
  EXPECT_EQ(Summary()["error"], "interrupted: the workers did not stop within 10 s");
}

TEST_F(RealRanksTest, MpirunStartsAJob) {
  ASSERT_TRUE(std::filesystem::exists("/usr/bin/mpirun")) << "install openmpi-bin";
  std::vector<std::string> argv{"/usr/bin/env",
                                "OMPI_ALLOW_RUN_AS_ROOT=1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                "XDG_RUNTIME_DIR=" + directory_.path(),
                                "/usr/bin/mpirun",
                                "-np",
                                "2",
                                "--oversubscribe"};
  const auto command = TrainCommand("ring", 3, bundle());
  argv.insert(argv.end(), command.begin(), command.end());
  Process mpirun({.argv = argv});
  std::string output;
  EXPECT_EQ(Finish(mpirun, output).code, 0) << output;
  EXPECT_EQ(Summary()["status"], "done");
  EXPECT_EQ(Summary()["launcher"], "mpirun");
  EXPECT_EQ(Summary()["workers"], 2);
}

}  // namespace
}  // namespace ringside
