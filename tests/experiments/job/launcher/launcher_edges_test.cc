// Tests whole runs, with all their processes, in unusual cases. launcher_test.cc has runs whose
// processes are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/process.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

class LauncherEdgesTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  JobOutcome Run(const RunSpec& spec) const {
    return RunJob(spec, {.bundle_dir = bundle(),
                         .show_progress = false,
                         .echo_logs = false,
                         .program = RingsideProgram()});
  }

  const TemporaryDirectory directory_;
};

TEST_F(LauncherEdgesTest, AMissingWorkerExecutableIsAMissingBackend) {
  const ScopedVariable worker("RINGSIDE_WORKER", "/nonexistent");
  RunSpec spec = ProfileSpec("ring", 2, 3);
  spec.model = "mlp";
  spec.data = "digits";
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.failure, FailureKind::kMissingBackend);
}

TEST_F(LauncherEdgesTest, ATimelineThatCannotBeWrittenCostsNoRun) {
  // A non-empty directory has the file's path.
  std::filesystem::create_directories(bundle() + "/trace.json/taken");
  RunSpec spec = ProfileSpec("ring", 2, 3);
  spec.timeline = true;
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["status"], "done");
}

// Profile models take no data on the command line; here it gives them something to evaluate on.
TEST_F(LauncherEdgesTest, TwoWorkersEvaluateTogether) {
  RunSpec spec = ProfileSpec("ring", 2, 4);
  spec.data = "synthetic";
  spec.eval_every = 2;
  const JobOutcome outcome = Run(spec);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  // The loss of a profile model is 1 a sample: the mean is 1 if every sample was counted once.
  EXPECT_EQ(outcome.summary["eval_loss"], 1);
  EXPECT_EQ(outcome.summary["eval_accuracy"], 0);
  std::ifstream metrics(bundle() + "/metrics.jsonl");
  std::vector<std::int64_t> steps;
  for (std::string line; std::getline(metrics, line);) {
    const auto row = nlohmann::json::parse(line);
    if (row["kind"] == "evaluation") steps.push_back(row["step"]);
  }
  EXPECT_THAT(steps, ::testing::ElementsAre(2, 4));
}

// The group's signals do not reach them. The second one is a daemon with an empty environment.
TEST_F(LauncherEdgesTest, WhatAWorkerLeavesInAnotherSessionEndsWithTheRun) {
  const std::string pid_file = directory_.path() + "/pid.$$.";
  const std::string program = directory_.path() + "/program";
  const std::string daemon = directory_.path() + "/daemon";
  std::ofstream(daemon) << "trap '' TERM\necho $$ > \"$1\"\nexec sleep 1000\n";
  std::ofstream(program) << "#!/bin/sh\n"
                         << "setsid sh -c 'echo $$ > \"$0\"; exec sleep 1000' " << pid_file << "a "
                         << ">/dev/null 2>&1 &\n"
                         << "setsid env -i /bin/sh -c '/bin/sh " << daemon << " \"$0\" &' "
                         << pid_file << "b >/dev/null 2>&1\n"
                         << "until [ -s " << pid_file << "a ] && [ -s " << pid_file << "b ]; do\n"
                         << "  sleep 0.01\ndone\n"
                         << "exec " << RingsideProgram() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms(0700));
  const JobOutcome outcome = RunJob(
      ProfileSpec("ring", 2, 5),
      {.bundle_dir = bundle(), .show_progress = false, .echo_logs = false, .program = program});
  EXPECT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
    if (!entry.path().filename().string().starts_with("pid.")) continue;
    pid_t pid = -1;
    std::ifstream(entry.path()) >> pid;
    EXPECT_FALSE(IsAlive(pid)) << pid;
    ++count;
  }
  EXPECT_EQ(count, 4);
}

TEST_F(LauncherEdgesTest, WhatAProgramHasStartedEndsWithAKilledLauncher) {
  const std::string script = directory_.path() + "/program";
  std::ofstream(script) << "setsid sh -c 'echo $$ > \"$0\"; exec sleep 1000' \"$0.$$.a\" &\n"
                        << "sh -c 'echo $$ > \"$0\"; exec sleep 1000' \"$0.$$.b\" &\n"
                        << "exec sleep 1000\n";
  Process launcher({.argv = {RingsideProgram(), "train", "--strategy", "ring", "--workers", "2",
                             "--out", bundle(), "--", "/bin/sh", script}});
  std::vector<pid_t> started;
  WaitUntil("the processes of both programs", [&] {
    started.clear();
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      pid_t pid = -1;
      if (entry.path().filename().string().starts_with("program.") &&
          std::ifstream(entry.path()) >> pid) {
        started.push_back(pid);
      }
    }
    return started.size() == 4;
  });
  ASSERT_EQ(::kill(launcher.pid(), SIGKILL), 0);
  for (const pid_t pid : started) {
    WaitUntil("the end of process " + std::to_string(pid), [pid] { return !IsAlive(pid); });
  }
}

TEST_F(LauncherEdgesTest, TheLastLineOfAProcessThatGivesUpIsInTheError) {
  const std::string program = directory_.path() + "/program";
  std::ofstream(program)
      << "#!/bin/sh\n"
      << "case \"$*\" in\n"
      << "  \"worker --rank 1 \"*) echo starts; printf 'no\\377data' >&2; exit 3 ;;\n"
      << "esac\n"
      << "exec " << RingsideProgram() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms(0700));
  const JobOutcome outcome = RunJob(
      ProfileSpec("ring", 2, 5),
      {.bundle_dir = bundle(), .show_progress = false, .echo_logs = false, .program = program});
  EXPECT_EQ(outcome.failure, FailureKind::kEarlyExit);
  EXPECT_THAT(outcome.error,
              ::testing::HasSubstr("exited with code 3 before it handed in a result; "
                                   "it wrote last: no\xef\xbf\xbd"
                                   "data"));
}

// Each generation loses a worker before it has begun.
TEST_F(LauncherEdgesTest, ACrashLoopEndsAfterTheRestartsThatAreAllowed) {
  const std::string program = directory_.path() + "/program";
  std::ofstream(program) << "#!/bin/sh\n"
                         << "case \"$*\" in \"worker --rank 1 \"*) kill -9 $$ ;; esac\n"
                         << "exec " << RingsideProgram() << " \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms(0700));
  const JobOutcome outcome =
      RunJob(ProfileSpec("ring", 2, 5),
             {.bundle_dir = bundle(),
              .show_progress = false,
              .echo_logs = false,
              .program = program,
              .recovery = {.on_failure = OnFailure::kRestart, .max_restarts = 2}});
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_EQ(outcome.failure, FailureKind::kSignal);
  EXPECT_THAT(outcome.error, ::testing::HasSubstr("worker 1 (pid "));
  EXPECT_EQ(outcome.summary["restarts"], 2);
  for (const nlohmann::json& generation : outcome.summary["failed_generations"]) {
    EXPECT_EQ(generation["failure"]["kind"], "signal");
    EXPECT_EQ(generation["failure"]["member"], "worker 1");
  }
  for (const pid_t pid : PidsIn(bundle())) EXPECT_TRUE(ProcessesOfGroup(pid).empty());
}

TEST_F(LauncherEdgesTest, TwoJobsAtOnceDoNotMeet) {
  const auto start = [this](const char* strategy) {
    return std::async(std::launch::async, [=, this] {
      return RunJob(ProfileSpec(strategy, 2, 20), {.bundle_dir = bundle() + strategy,
                                                   .show_progress = false,
                                                   .echo_logs = false,
                                                   .program = RingsideProgram()});
    });
  };
  auto ring = start("ring");
  auto servers = start("ps-sync");
  for (const JobOutcome& outcome : {ring.get(), servers.get()}) {
    EXPECT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  }
}

class AddressFamilyTest : public LauncherEdgesTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(AddressFamilyTest, AJobRunsOverIpv6Alone) {
  std::ifstream addresses("/proc/net/if_inet6");
  const std::string text{std::istreambuf_iterator<char>(addresses), {}};
  if (text.find("00000000000000000000000000000001") == std::string::npos) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  RunSpec spec = ProfileSpec("ps-sync", 2, 5);
  if (std::string_view(GetParam()) == "ring") {
    spec = ProfileSpec("ring", 2, 5);
  } else {
    spec.options.Set(kPsTransport, GetParam());
  }
  const JobOutcome outcome = RunJob(spec, {.bundle_dir = bundle(),
                                           .address = "::1",
                                           .address_given = true,
                                           .show_progress = false,
                                           .echo_logs = false,
                                           .program = RingsideProgram()});
  EXPECT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
}

INSTANTIATE_TEST_SUITE_P(Connections, AddressFamilyTest, ::testing::Values("ring", "tcp", "grpc"),
                         [](const auto& kind) { return std::string(kind.param); });

/// A launcher of a run that does not end by itself.
class LongRunTest : public LauncherEdgesTest {
 protected:
  /// An emulated step takes `compute_ms`.
  explicit LongRunTest(const char* compute_ms = "20")
      : launcher_(
            {.argv = {DirectoryOfThisExecutable() + "/ringside", "train", "--strategy", "ring",
                      "--workers", "2", "--model", "profile:mobilenet-v2", "--compute-ms",
                      compute_ms, "--steps", "100000", "--quiet", "--out", bundle()}}) {
    WaitUntil("a step", [&] { return StepsIn(bundle()) >= 1; });
  }

  nlohmann::json Summary() const {
    std::ifstream file(bundle() + "/summary.json");
    return nlohmann::json::parse(file);
  }

  Process launcher_;
};

/// Its step takes longer than it takes to suspend the launcher.
class LongStepTest : public LongRunTest {
 protected:
  LongStepTest() : LongRunTest("4000") {}
};

// Ctrl-Z and fg.
TEST_F(LongRunTest, GoesOnAfterItsLauncherWasSuspendedForMoreThanALease) {
  launcher_.Signal(SIGTSTP);
  // This sleep is no synchronisation. The test is about a pause that is longer than a lease.
  std::this_thread::sleep_for(std::chrono::seconds(7));
  const int steps = StepsIn(bundle());
  launcher_.Signal(SIGCONT);
  WaitUntil("more steps or the end",
            [&] { return StepsIn(bundle()) > steps + 20 || launcher_.Poll().has_value(); });
  EXPECT_FALSE(launcher_.Poll().has_value());
  EXPECT_TRUE(IsAlive(PidIn(bundle(), "worker 0")));
  launcher_.Signal(SIGINT);
  WaitUntil("the launcher's end", [&] { return launcher_.Poll().has_value(); });
  EXPECT_EQ(launcher_.Poll()->code, 130);
}

TEST_F(LongRunTest, EndsWhenItsLauncherIsFrozenForMoreThanALease) {
  const pid_t worker = PidIn(bundle(), "worker 0");
  launcher_.Signal(SIGSTOP);
  WaitUntil("the worker's end", [&] { return ProcessesOfGroup(worker).empty(); });
  launcher_.Signal(SIGCONT);
  WaitUntil("the launcher's end", [&] { return launcher_.Poll().has_value(); });
  EXPECT_EQ(launcher_.Poll()->code, 1);
  EXPECT_THAT(Summary()["error"].get<std::string>(),
              ::testing::ContainsRegex("^this process, which hosts the coordinator, was stopped"));
  EXPECT_LE(CoordinatorSilence(ReadFile(bundle() + "/logs/worker-0.log", 1 << 20)), 5);
}

// An interrupted run has 10 s to end its step.
TEST_F(LongStepTest, KeepsItsTimeToEndWhileItsLauncherIsSuspended) {
  launcher_.Signal(SIGINT);
  launcher_.Signal(SIGTSTP);
  // This sleep is no synchronisation. The test is about a pause that is longer than those 10 s.
  std::this_thread::sleep_for(std::chrono::seconds(13));
  ASSERT_FALSE(launcher_.Poll().has_value()) << "it ended before it was suspended";
  launcher_.Signal(SIGCONT);
  WaitUntil("the launcher's end", [&] { return launcher_.Poll().has_value(); });
  EXPECT_EQ(launcher_.Poll()->code, 130);
  EXPECT_EQ(Summary()["error"], "interrupted: stopped after a common last step");
}

}  // namespace
}  // namespace ringside
