// Whole runs with real processes, which the tests kill. `ringside` lies beside this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::ThrowsMessage;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBound{5};
constexpr std::chrono::seconds kToEnd{10};  // of a process that has handed in its result
constexpr int kEndless = 100'000;

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

class LauncherTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  JobOptions Options() const {
    return {.bundle_dir = bundle(),
            .show_progress = false,
            .echo_logs = false,
            .program = ProgramWithFaults()};
  }

  JobOutcome Run(const RunSpec& spec) {
    JobOutcome outcome = RunJob(spec, Options());
    EXPECT_FALSE(PidsIn(bundle()).empty());
    ExpectNothingLeft();
    return outcome;
  }

  std::future<JobOutcome> RunBeside(const RunSpec& spec) {
    return std::async(std::launch::async, [this, spec] { return Run(spec); });
  }

  void ExpectNothingLeft() const {
    for (const pid_t pid : PidsIn(bundle())) {
      EXPECT_TRUE(ProcessesOfGroup(pid).empty()) << "left of process group " << pid;
    }
  }

  void WaitForSteps(int steps) const {
    WaitUntil("step " + std::to_string(steps), [&] { return StepsIn(bundle()) >= steps; });
  }

  nlohmann::json SummaryFile() const {
    return nlohmann::json::parse(ReadFile(bundle() + "/summary.json", 1 << 20));
  }

  const TemporaryDirectory directory_;
};

struct Case {
  std::string strategy;
  bool colocated = false;
};

class EveryStrategyTest : public LauncherTest, public ::testing::WithParamInterface<Case> {};

TEST_P(EveryStrategyTest, RunsToItsEndAndSumsUp) {
  RunSpec spec = ProfileSpec(GetParam().strategy, 2, 6);
  spec.colocated = GetParam().colocated;
  spec.servers = 0;
  spec.timeline = true;
  spec.save_params = true;
  spec.link_bits_per_s = 1e9;
  spec = Resolve(spec);
  const JobOutcome outcome = Run(spec);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  const nlohmann::json summary = SummaryFile();
  EXPECT_EQ(summary, outcome.summary);
  EXPECT_EQ(summary["status"], "done");
  EXPECT_EQ(summary["steps"], 6);
  EXPECT_EQ(summary["counted_steps"], 5);
  EXPECT_EQ(StepsIn(bundle()), 6);
  EXPECT_THAT(summary["params_sha256"].get<std::string>(), MatchesRegex("[0-9a-f]{64}"));
  EXPECT_GT(summary["samples_per_s"], 0);
  EXPECT_GT(summary["cpu_seconds"]["workers"], 0);
  EXPECT_GT(summary["peak_rss_bytes"], 0);
  EXPECT_TRUE(summary["emulated_compute"]);
  const auto trace = nlohmann::json::parse(ReadFile(bundle() + "/trace.json", 64 << 20));
  EXPECT_GT(trace["traceEvents"].size(), 0);
  EXPECT_TRUE(std::filesystem::exists(bundle() + "/params.bin"));
  EXPECT_TRUE(std::filesystem::exists(bundle() + "/environment.json"));
  EXPECT_EQ(nlohmann::json::parse(ReadFile(bundle() + "/spec.json", 1 << 20)).at("steps"), 6);
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryStrategyTest,
                         ::testing::Values(Case{"none"}, Case{"ring"}, Case{"halving-doubling"},
                                           Case{"ps-sync"}, Case{"ps-sync", true},
                                           Case{"ps-async"}),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param.strategy;
                           std::erase(name, '-');
                           return name + (suite_case.param.colocated ? "Colocated" : "");
                         });

TEST_F(LauncherTest, ASecondRunInTheSameDirectoryIsRefused) {
  Process first({.argv = {RingsideProgram(), "train", "--strategy", "none", "--workers", "1",
                          "--model", "profile:small-tensors", "--compute-ms", "1", "--steps",
                          std::to_string(kEndless), "--quiet", "--out", bundle()}});
  WaitForSteps(3);
  const RunSpec spec = Resolve(ProfileSpec("none", 1, 3));
  EXPECT_THAT([&] { RunJob(spec, Options()); },
              ThrowsMessage<Error>(HasSubstr("another run is writing into " + bundle())));
  const int steps = StepsIn(bundle());
  EXPECT_GE(steps, 3) << "the steps of the first run are gone";
  WaitForSteps(steps + 1);
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  WaitUntil("the launcher's end", [&] { return first.Poll().has_value(); });
  EXPECT_EQ(Run(spec).status, JobStatus::kDone);
}

struct BytesCase {
  std::string name;
  std::string strategy;
  int workers;
  int colocated_servers = 0;
};

class MeasuredBytesTest : public LauncherTest, public ::testing::WithParamInterface<BytesCase> {};

// Compares the bytes that the kernel counts with the bytes that theory says must be sent.
TEST_P(MeasuredBytesTest, AreThoseOfTheBound) {
  // With so many steps the last one counts little.
  RunSpec spec = ProfileSpec(GetParam().strategy, GetParam().workers, 12);
  spec.colocated = GetParam().colocated_servers > 0;
  spec.servers = GetParam().colocated_servers;
  const JobOutcome outcome = Run(Resolve(spec));
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  const double bound = outcome.summary["bound_bytes_sent_per_worker_per_step"];
  const double measured = outcome.summary["bytes_sent_per_worker_per_step"];
  // A co-located server may still be answering others when its own worker's last step ends.
  EXPECT_GE(measured, (spec.colocated ? 0.95 : 1) * bound);
  EXPECT_LT(measured, 1.05 * bound);
  if (!spec.colocated) return;
  EXPECT_EQ(outcome.summary["bytes_per_server_per_step"],
            outcome.summary["bound_bytes_per_server_per_step"]);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, MeasuredBytesTest,
    ::testing::Values(BytesCase{"RingOfTwo", "ring", 2}, BytesCase{"RingOfThree", "ring", 3},
                      BytesCase{"HalvingDoublingOfThree", "halving-doubling", 3},
                      BytesCase{"DedicatedServer", "ps-sync", 2},
                      BytesCase{"OneOfThreeServes", "ps-sync", 3, 1},
                      BytesCase{"TwoOfThreeServe", "ps-sync", 3, 2}),
    [](const auto& suite_case) { return suite_case.param.name; });

TEST_F(LauncherTest, NoSecretIsInArgumentsOrEnvironment) {
  auto outcome = RunBeside(ProfileSpec("ring", 2, kEndless));
  WaitForSteps(1);
  for (const pid_t pid : PidsIn(bundle())) {
    const std::string proc = "/proc/" + std::to_string(pid);
    for (const char* file : {"/cmdline", "/environ"}) {
      std::string text = ReadFile(proc + file, 1 << 20);
      std::ranges::replace(text, '\0', '\n');
      EXPECT_THAT(text, ::testing::Not(::testing::ContainsRegex("[0-9a-f]{64}"))) << proc << file;
    }
  }
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(outcome.get().status, JobStatus::kInterrupted);
}

// Runs the whole command, to see its exit code and its messages.
class KilledWorkerTest : public LauncherTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Process Train() const {
    return Process(
        {.argv = {DirectoryOfThisExecutable() + "/ringside", "train", "--strategy", GetParam(),
                  "--workers", "3", "--model", "profile:mobilenet-v2", "--compute-ms", "5",
                  "--steps", std::to_string(kEndless), "--quiet", "--out", bundle()}});
  }

  static std::string Output(const Process& process) {
    std::string output(4096, '\0');
    const ssize_t size = ::read(process.output_fd(), output.data(), output.size());
    output.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return output;
  }
};

TEST_P(KilledWorkerTest, EndsAllAndIsNamed) {
  Process launcher = Train();
  WaitUntil("two steps of every rank", [&] { return CommonStepsIn(bundle()) >= 2; });
  const pid_t pid = PidIn(bundle(), "worker 1");
  const auto killed_at = Clock::now();
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
  ExpectNothingLeft();
  EXPECT_LT(Clock::now() - killed_at, kBound);
  EXPECT_EQ(launcher.Poll()->signal, 0);
  EXPECT_EQ(launcher.Poll()->code, 1);
  const std::string culprit = "worker 1 (pid " + std::to_string(pid) + ") was killed by signal 9";
  EXPECT_THAT(Output(launcher), HasSubstr(culprit));
  EXPECT_EQ(SummaryFile()["status"], "failed");
  EXPECT_THAT(SummaryFile()["error"].get<std::string>(), HasSubstr(culprit));
  EXPECT_EQ(SummaryFile()["failure"]["kind"], "signal");
  EXPECT_EQ(SummaryFile()["failure"]["member"], "worker 1");
  EXPECT_GT(SummaryFile()["failure"]["seconds"], 0);
  EXPECT_GE(SummaryFile()["steps"], 1);
}

// Uses dedicated servers when the strategy has servers.
INSTANTIATE_TEST_SUITE_P(Strategies, KilledWorkerTest,
                         ::testing::Values("ring", "ps-sync", "ps-async"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(LauncherTest, AFailureThatIsTriedAgainLeavesItsBundleUnfinished) {
  const ScopedVariable fault("RINGSIDE_FAULT", "kill@rank1:step2");
  JobOptions options = Options();
  options.another_follows = IsRetryable;
  const JobOutcome outcome = RunJob(ProfileSpec("ring", 2, kEndless), options);
  EXPECT_TRUE(IsRetryable(outcome)) << outcome.error;
  EXPECT_EQ(outcome.summary.at("status"), "failed");
  EXPECT_TRUE(std::filesystem::exists(bundle() + "/spec.json"));
  EXPECT_FALSE(std::filesystem::exists(bundle() + "/summary.json"));
  ExpectNothingLeft();
  options.another_follows = nullptr;
  EXPECT_TRUE(IsRetryable(RunJob(ProfileSpec("ring", 2, kEndless), options)));
  EXPECT_EQ(SummaryFile()["status"], "failed");
}

TEST_F(LauncherTest, AKilledServerEndsAllAndIsNamed) {
  auto running = RunBeside(ProfileSpec("ps-sync", 2, kEndless));
  WaitForSteps(2);
  const auto killed_at = Clock::now();
  ASSERT_EQ(::kill(PidIn(bundle(), "server 0"), SIGKILL), 0);
  const JobOutcome outcome = running.get();
  EXPECT_LT(Clock::now() - killed_at, kBound);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("server 0 (pid "));
  EXPECT_THAT(outcome.error, HasSubstr("was killed by signal 9"));
}

TEST_F(LauncherTest, AnEarlyExitIsAFailureEvenWithCodeZero) {
  const ScopedVariable fault("RINGSIDE_FAULT", "exit@rank1:step3");
  const JobOutcome outcome = Run(ProfileSpec("ring", 2, kEndless));
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1 (pid "));
  EXPECT_THAT(outcome.error, HasSubstr("exited with code 0 before it handed in a result"));
}

TEST_F(LauncherTest, ALossThatIsNoNumberEndsTheRunAsDiverged) {
  const ScopedVariable fault("RINGSIDE_FAULT", "nan@rank1:step2");
  const JobOutcome outcome = Run(ProfileSpec("ring", 2, kEndless));
  EXPECT_EQ(outcome.status, JobStatus::kDiverged);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1: diverged"));
  EXPECT_THAT(outcome.error, HasSubstr("step 2"));
}

std::string StrategyOf(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
}

// The model does not compute, so nothing looks at its gradients before they are summed.
class DivergingTest : public LauncherTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(DivergingTest, AnInfiniteGradientEndsTheRunInItsStep) {
  const ScopedVariable fault("RINGSIDE_FAULT", "inf@rank1:step2");
  const JobOutcome outcome = Run(ProfileSpec(GetParam(), 2, kEndless));
  EXPECT_EQ(outcome.status, JobStatus::kDiverged) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("diverged: the "));
  EXPECT_LE(outcome.summary["steps"], 3);
  const StrategyEntry* entry = TestCatalog().FindStrategy(GetParam());
  if (!entry->traits.synchronous()) return;
  // Steps are counted from 0, updates from 1.
  EXPECT_THAT(outcome.error, AnyOf(HasSubstr("step 2"), HasSubstr("update 3")));
}

INSTANTIATE_TEST_SUITE_P(Strategies, DivergingTest,
                         ::testing::Values("ring", "shm", "hierarchical", "local-sgd", "ps-sync",
                                           "mixed", "ps-async"),
                         StrategyOf);

TEST_F(LauncherTest, AGradientThatIsTooLargeForItsCodecEndsTheRun) {
  const ScopedVariable fault("RINGSIDE_FAULT", "huge@rank1:step2");
  RunSpec spec = ProfileSpec("ring", 2, kEndless);
  SetSpecKey(spec, "codec", "fp16");
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.status, JobStatus::kDiverged) << outcome.error;
}

// Where workers get their parameters from a server in each step, or share them, none has others.
class ReplicaTest : public LauncherTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ReplicaTest, AFlippedBitEndsTheRunBeforeTheNextCheckpoint) {
  const ScopedVariable fault("RINGSIDE_FAULT", "flip@rank1:step5");
  RunSpec spec = ProfileSpec(GetParam(), 3, kEndless);
  spec.check_replicas = 1'000;
  spec.checkpoint_every = 4;
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("replicas differ after 8 steps: worker 1 has other "
                                       "parameters than workers 0 and 2"));
  EXPECT_TRUE(std::filesystem::exists(bundle() + "/checkpoints/step-4.ckpt"));
  EXPECT_FALSE(std::filesystem::exists(bundle() + "/checkpoints/step-8.ckpt"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, ReplicaTest,
                         ::testing::Values("ring", "halving-doubling", "recursive-doubling", "tree",
                                           "hierarchical"),
                         StrategyOf);

TEST_F(LauncherTest, AnErrorOfOneWorkerIsTheOneThatIsTold) {
  const ScopedVariable fault("RINGSIDE_FAULT", "throw@rank1:step2");
  const JobOutcome outcome = Run(ProfileSpec("ps-sync", 2, kEndless));
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1: the fault that RINGSIDE_FAULT asked for"));
}

TEST_F(LauncherTest, AFrozenWorkerIsLostAfterItsLease) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step3");
  ::testing::internal::CaptureStderr();
  const JobOutcome outcome = Run(ProfileSpec("ps-sync", 2, kEndless));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ContainsRegex("last words: .*worker 1"));
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1 (pid "));
  EXPECT_THAT(outcome.error, HasSubstr("is lost"));
  const nlohmann::json& words = outcome.summary["last_words"];
  ASSERT_EQ(words.size(), 3U) << "two workers and a server";
  EXPECT_EQ(words[0]["member"], "worker 1") << "the others wait for it";
  EXPECT_GT(words[0]["silent_seconds"], 4);
  EXPECT_LE(words[0]["silent_seconds"], Seconds(kBound));
  EXPECT_THAT(words[1]["activity"].get<std::string>(), HasSubstr("waits for bucket"));
  EXPECT_EQ(words[1]["peer"], "server 0");
  EXPECT_LT(words[1]["silent_seconds"], 2);
  EXPECT_THAT(words[2]["text"].get<std::string>(), HasSubstr("worker 1 has not pushed"));
  EXPECT_THAT(outcome.summary["warnings"].dump(), HasSubstr("worker 1"));
}

// Its heartbeats have ended, so no lease tells of it.
TEST_F(LauncherTest, AMemberThatFreezesAfterItsResultHoldsNobodyUp) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@server0:step0:member.left");
  const auto begin = Clock::now();
  const JobOutcome outcome = Run(ProfileSpec("ps-sync", 2, 6));
  EXPECT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(SummaryFile()["status"], "done");
  EXPECT_GT(Seconds(Clock::now() - begin), Seconds(kToEnd)) << "it did not freeze";
  EXPECT_LT(Seconds(Clock::now() - begin), 3 * Seconds(kToEnd));
}

// Whether the user asked for stragglers or not.
TEST_F(LauncherTest, AWorkerThatFreezesInItsFirstStepIsNamedBeforeItIsLost) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step0");
  RunSpec spec = ProfileSpec("ring", 2, kEndless);
  SetSpecKey(spec, "straggler", "kind=permanent,factor=1.5");
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.summary["warnings"].dump(),
              ContainsRegex("worker 1 .*has been silent for [2-4]"));
}

TEST_F(LauncherTest, TheOthersSayForWhichPeerTheyWait) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step3");
  for (const char* strategy : {"ring", "shm"}) {
    const JobOutcome outcome = Run(ProfileSpec(strategy, 2, kEndless));
    EXPECT_EQ(outcome.status, JobStatus::kFailed) << strategy;
    const nlohmann::json& words = outcome.summary["last_words"];
    ASSERT_EQ(words.size(), 2U) << strategy;
    EXPECT_EQ(words[1]["member"], "worker 0") << strategy;
    EXPECT_EQ(words[1]["peer"], "worker 1") << strategy << ": " << words[1];
    std::filesystem::remove_all(bundle());
  }
}

// Workers 0 and 1 share a host. Worker 2 sums with worker 3 on its own host, then with worker 0
// over the hosts, and worker 3 with worker 1. How far worker 2 comes is a matter of time.
TEST_F(LauncherTest, TheOthersOfAHierarchySayForWhichPeerTheyWait) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step3");
  RunSpec spec = ProfileSpec("hierarchical", 4, kEndless);
  spec.hosts = 2;
  const JobOutcome outcome = Run(Resolve(spec));
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  const nlohmann::json& words = outcome.summary["last_words"];
  ASSERT_EQ(words.size(), 4U) << words;
  EXPECT_EQ(words[0]["member"], "worker 1") << "the others wait for it";
  EXPECT_EQ(words[1]["peer"], "worker 1") << words;
  EXPECT_THAT(words[2]["peer"].get<std::string>(), AnyOf("worker 0", "worker 3")) << words;
  EXPECT_EQ(words[3]["peer"], "worker 1") << words;
}

TEST_F(LauncherTest, AnInterruptStopsAllAtOneStepAndKeepsTheResults) {
  RunSpec spec = ProfileSpec("ring", 3, kEndless);
  spec.checkpoint_every = kEndless / 2;
  spec.eval_every = 0;
  auto running = RunBeside(spec);
  WaitForSteps(3);
  ::kill(::getpid(), SIGINT);
  const JobOutcome outcome = running.get();
  EXPECT_EQ(outcome.status, JobStatus::kInterrupted) << outcome.error;
  const nlohmann::json summary = SummaryFile();
  EXPECT_EQ(summary["status"], "interrupted");
  const int steps = summary["steps"];
  EXPECT_GE(steps, 3);
  EXPECT_EQ(StepsIn(bundle()), steps);
  EXPECT_TRUE(summary["params_sha256"].is_string());
  EXPECT_TRUE(
      std::filesystem::exists(bundle() + "/checkpoints/step-" + std::to_string(steps) + ".ckpt"));
}

// A frozen worker cannot agree on a last step: the first interrupt waits for it.
TEST_F(LauncherTest, ASecondInterruptKills) {
  const ScopedVariable fault("RINGSIDE_FAULT", "freeze@rank1:step3");
  auto running = RunBeside(ProfileSpec("ring", 2, kEndless));
  WaitForSteps(1);
  ::kill(::getpid(), SIGINT);
  ::kill(::getpid(), SIGTERM);
  const JobOutcome outcome = running.get();
  EXPECT_EQ(outcome.status, JobStatus::kInterrupted);
  EXPECT_THAT(outcome.error, HasSubstr("killed"));
}

TEST_F(LauncherTest, ATimeLimitEndsTheRun) {
  JobOptions options = Options();
  options.time_limit_s = 1;
  const JobOutcome outcome = RunJob(ProfileSpec("ring", 2, kEndless), options);
  EXPECT_EQ(outcome.status, JobStatus::kTimedOut);
  EXPECT_EQ(SummaryFile()["status"], "timed out");
  ExpectNothingLeft();
}

TEST_F(LauncherTest, ChildrenDieWithTheirLauncher) {
  std::vector<pid_t> pids;
  {
    Process launcher({.argv = {DirectoryOfThisExecutable() + "/ringside", "train", "--strategy",
                               "ps-sync", "--workers", "2", "--model", "profile:mobilenet-v2",
                               "--steps", std::to_string(kEndless), "--out", bundle()}});
    WaitForSteps(1);
    pids = PidsIn(bundle());
    ASSERT_EQ(pids.size(), 3);
    for (const pid_t pid : pids) EXPECT_TRUE(IsAlive(pid));
    ::kill(launcher.pid(), SIGKILL);
    WaitUntil("the launcher's end", [&] { return launcher.Poll().has_value(); });
  }
  const auto killed_at = Clock::now();
  WaitUntil("the children's end",
            [&] { return std::ranges::none_of(pids, [](pid_t pid) { return IsAlive(pid); }); });
  EXPECT_LT(Clock::now() - killed_at, kBound);
}

TEST_F(LauncherTest, AResumedRunEndsWhereTheWholeOneDoes) {
  for (const char* strategy : {"ring", "ps-sync"}) {
    RunSpec spec = ProfileSpec(strategy, 2, 6);
    spec.optimizer.momentum = 0.9;
    spec.checkpoint_every = 3;
    const JobOutcome whole = Run(spec);
    ASSERT_EQ(whole.status, JobStatus::kDone) << whole.error;
    const std::string checkpoint = directory_.path() + "/" + strategy + ".ckpt";
    std::filesystem::rename(bundle() + "/checkpoints/step-3.ckpt", checkpoint);

    spec.resume = checkpoint;
    const JobOutcome resumed = Run(spec);
    ASSERT_EQ(resumed.status, JobStatus::kDone) << resumed.error;
    EXPECT_EQ(resumed.summary["first_step"], 3);
    EXPECT_EQ(resumed.summary["params_sha256"], whole.summary["params_sha256"]) << strategy;
  }
}

TEST_F(LauncherTest, ADamagedCheckpointIsRefusedWithItsOffset) {
  RunSpec spec = ProfileSpec("ring", 2, 3);
  spec.resume = directory_.path() + "/damaged.ckpt";
  std::ofstream(spec.resume) << "this is no checkpoint, but as long as the header of one would be";
  const JobOutcome outcome = Run(spec);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("damaged.ckpt: at byte 0: expected the length of a header"));
}

TEST_F(LauncherTest, AnOpenNetworkIsRefusedBeforeAnythingStarts) {
  JobOptions options = Options();
  options.address = "192.0.2.1";
  EXPECT_THROW(RunJob(ProfileSpec("ring", 2, 3), options), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(bundle()));
}

}  // namespace
}  // namespace ringside
