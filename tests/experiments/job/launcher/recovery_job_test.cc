// Whole jobs whose workers fail and that go on afterwards.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kSteps = 12;

class RecoveryJobTest : public ::testing::TestWithParam<const char*> {
 protected:
  RunSpec Spec(int workers) const {
    RunSpec spec = ProfileSpec(GetParam(), workers, kSteps);
    spec.checkpoint_every = 4;
    spec.optimizer.momentum = 0.9;
    return spec;
  }

  JobOutcome Run(const RunSpec& spec, const std::string& name, OnFailure on_failure) const {
    const JobOutcome outcome = RunJob(spec, {.bundle_dir = directory_.Path(name),
                                             .show_progress = false,
                                             .echo_logs = false,
                                             .program = ProgramWithFaults(),
                                             .recovery = {.on_failure = on_failure}});
    for (const pid_t pid : PidsIn(directory_.Path(name))) {
      EXPECT_TRUE(ProcessesOfGroup(pid).empty()) << "left of process group " << pid;
    }
    return outcome;
  }

  const TemporaryDirectory directory_;
};

TEST_P(RecoveryJobTest, ARestartedRunHasTheParametersOfOneThatDidNotFail) {
  const JobOutcome whole = Run(Spec(2), "whole", OnFailure::kStop);
  ASSERT_EQ(whole.status, JobStatus::kDone) << whole.error;
  // Each run replaces the one before it, with all that its failed generation has left.
  for (const char* fault : {"kill@rank1:step6", "exit@rank0:step6", "kill@rank0:step2"}) {
    const ScopedVariable variable("RINGSIDE_FAULT", fault);
    const JobOutcome outcome = Run(Spec(2), "run", OnFailure::kRestart);
    ASSERT_EQ(outcome.status, JobStatus::kDone) << fault << ": " << outcome.error;
    EXPECT_EQ(outcome.summary["restarts"], 1) << fault;
    EXPECT_EQ(outcome.summary["steps"], kSteps);
    const nlohmann::json& failed = outcome.summary["failed_generations"][0];
    EXPECT_EQ(failed["last_words"].size(),
              whole.summary["dedicated_servers"].get<std::size_t>() + 2)
        << fault << ": " << failed;
    EXPECT_EQ(
        failed["steps_repeated"],
        std::max(failed["steps_done"].get<int>() - outcome.summary["first_step"].get<int>(), 0))
        << fault;
    EXPECT_EQ(outcome.summary["params_sha256"], whole.summary["params_sha256"]) << fault;
    EXPECT_EQ(outcome.summary["run_id"], whole.summary["run_id"]);
    EXPECT_TRUE(fs::exists(directory_.Path("run/generations/0/metrics.jsonl")));
    EXPECT_TRUE(fs::exists(directory_.Path("run/summary.json")));
  }
}

TEST_P(RecoveryJobTest, AShrunkRunGoesOnWithOneWorkerLess) {
  // At step 10 the first checkpoint is certain, because all have met at the second one.
  const ScopedVariable variable("RINGSIDE_FAULT", "kill@rank1:step10");
  const JobOutcome outcome = Run(Spec(3), "run", OnFailure::kShrink);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], 1) << "this strategy needs every worker";
  EXPECT_THAT(outcome.summary["lost_workers"], IsEmpty());
  EXPECT_EQ(outcome.summary["workers"], 2);
  EXPECT_GE(outcome.summary["first_step"], 4);
  EXPECT_EQ(outcome.summary["steps"], kSteps);
  EXPECT_THAT(outcome.summary["failed_generations"][0]["error"].get<std::string>(),
              HasSubstr("worker 1"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, RecoveryJobTest,
                         ::testing::Values("ring", "ps-sync", "shm", "local-sgd", "hierarchical"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

/// Strategies whose servers go on without a lost worker.
class LostWorkerJobTest : public RecoveryJobTest {
 protected:
  static void ExpectLost(const JobOutcome& outcome, int worker, const std::string& reason) {
    ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
    EXPECT_EQ(outcome.summary["restarts"], 0);
    EXPECT_EQ(outcome.summary["steps"], kSteps);
    EXPECT_EQ(outcome.summary["workers"], 3);
    const nlohmann::json& lost = outcome.summary["lost_workers"];
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0]["worker"], worker);
    EXPECT_GE(lost[0]["step"], 0);
    EXPECT_THAT(lost[0]["reason"].get<std::string>(), HasSubstr(reason));
    EXPECT_EQ(lost[0]["last_words"][0]["member"], fmt::format("worker {}", worker));
    EXPECT_EQ(lost[0]["last_words"][0]["failed"], true);
  }
};

TEST_P(LostWorkerJobTest, TheOthersGoOnWithoutAKilledWorker) {
  for (const char* fault : {"kill@rank1:step6", "exit@rank2:step1", "kill@rank1:step11"}) {
    const ScopedVariable variable("RINGSIDE_FAULT", fault);
    fs::remove_all(directory_.Path("run"));
    const JobOutcome outcome = Run(Spec(3), "run", OnFailure::kShrink);
    const bool killed = std::string(fault).starts_with("kill");
    ExpectLost(outcome, killed ? 1 : 2, killed ? "was killed by signal 9" : "exited with code 0");
    EXPECT_TRUE(fs::exists(directory_.Path("run/checkpoints/step-12.ckpt"))) << fault;
    EXPECT_TRUE(fs::exists(directory_.Path("run/summary.json"))) << fault;
  }
}

TEST_P(LostWorkerJobTest, TheOthersGoOnWithoutAWorkerThatIsCutOff) {
  const ScopedVariable variable("RINGSIDE_FAULT", "cut@rank1:step6");
  ExpectLost(Run(Spec(3), "run", OnFailure::kShrink), 1, "worker 1 is cut off: ");
}

TEST_P(LostWorkerJobTest, AStoppedRunStillFailsWithItsFirstDeadWorker) {
  const ScopedVariable variable("RINGSIDE_FAULT", "kill@rank1:step6");
  const JobOutcome outcome = Run(Spec(3), "run", OnFailure::kStop);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_THAT(outcome.error, HasSubstr("worker 1 (pid "));
}

TEST_P(LostWorkerJobTest, WithoutWorker0TheRunStartsAgain) {
  const ScopedVariable variable("RINGSIDE_FAULT", "kill@rank0:step10");
  const JobOutcome outcome = Run(Spec(3), "run", OnFailure::kShrink);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], 1);
  EXPECT_EQ(outcome.summary["workers"], 2);
  EXPECT_THAT(outcome.summary["lost_workers"], IsEmpty());
  EXPECT_THAT(outcome.summary["failed_generations"][0]["error"].get<std::string>(),
              HasSubstr("cannot go on without worker 0"));
}

TEST_P(LostWorkerJobTest, WithAServerInsideAWorkerTheRunStartsAgain) {
  RunSpec spec = Spec(3);
  spec.colocated = true;
  spec.servers = 1;  // in worker 0
  const ScopedVariable variable("RINGSIDE_FAULT", "kill@rank1:step10");
  const JobOutcome outcome = Run(Resolve(spec), "run", OnFailure::kShrink);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], 1);
  EXPECT_EQ(outcome.summary["workers"], 2);
}

INSTANTIATE_TEST_SUITE_P(Strategies, LostWorkerJobTest,
                         ::testing::Values("ps-async", "ps-ssp", "ps-backup"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

class CutOffWorkerTest : public LostWorkerJobTest {};

// Of two workers it cannot be told whose connection is broken.
TEST_P(CutOffWorkerTest, OfTwoEndsTheGeneration) {
  const ScopedVariable variable("RINGSIDE_FAULT", "cut@rank1:step10");
  const JobOutcome outcome = Run(Spec(2), "run", OnFailure::kShrink);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], 1);
  EXPECT_THAT(outcome.summary["lost_workers"], IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Strategies, CutOffWorkerTest, ::testing::Values("ps-async"),
                         [](const auto&) { return "psasync"; });

class PushCountTest : public LostWorkerJobTest {};

// Before its step 6 worker 1 has awaited the answers to steps 0 to 4. Its pushes of step 5 may be
// on their way.
TEST_P(PushCountTest, OfALostWorkerIsThatOfItsSteps) {
  const ScopedVariable variable("RINGSIDE_FAULT", "kill@rank1:step6");
  const JobOutcome outcome = Run(Spec(3), "run", OnFailure::kShrink);
  ExpectLost(outcome, 1, "was killed by signal 9");
  std::int64_t pushes = 0;
  for (const auto& [staleness, count] : outcome.summary["staleness"]["histogram"].items()) {
    pushes += count.get<std::int64_t>();
  }
  const auto buckets = outcome.summary["buckets"].get<std::int64_t>();
  EXPECT_GE(pushes, buckets * (2 * kSteps + 5));
  EXPECT_LE(pushes, buckets * (2 * kSteps + 6));
}

INSTANTIATE_TEST_SUITE_P(Strategies, PushCountTest, ::testing::Values("ps-async", "ps-ssp"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

class FrozenWorkerTest : public LostWorkerJobTest {};

TEST_P(FrozenWorkerTest, IsLostAfterItsLeaseAndLeavesNoProcess) {
  const ScopedVariable variable("RINGSIDE_FAULT", "freeze@rank1:step6");
  ExpectLost(Run(Spec(3), "run", OnFailure::kShrink), 1, "is lost: no heartbeat");
}

INSTANTIATE_TEST_SUITE_P(Strategies, FrozenWorkerTest, ::testing::Values("ps-ssp"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

class KilledServerTest : public RecoveryJobTest {};

TEST_P(KilledServerTest, ComesBackWithItsShardOfTheCheckpoint) {
  RunSpec spec = Spec(2);
  spec.steps = 100;
  spec.checkpoint_every = 10;
  spec = Resolve(spec);
  const JobOutcome whole = Run(spec, "whole", OnFailure::kStop);
  ASSERT_EQ(whole.status, JobStatus::kDone) << whole.error;
  auto running =
      std::async(std::launch::async, [&] { return Run(spec, "run", OnFailure::kRestart); });
  WaitUntil("a checkpoint", [&] {
    return fs::exists(directory_.Path("run/checkpoints/step-10.ckpt")) ||
           fs::exists(directory_.Path("run/checkpoints/step-20.ckpt"));
  });
  ASSERT_EQ(::kill(PidIn(directory_.Path("run"), "server 0"), SIGKILL), 0);
  const JobOutcome outcome = running.get();
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], 1);
  EXPECT_GE(outcome.summary["first_step"], 10);
  EXPECT_THAT(outcome.summary["failed_generations"][0]["error"].get<std::string>(),
              HasSubstr("server 0"));
  EXPECT_EQ(outcome.summary["params_sha256"], whole.summary["params_sha256"]);
}

INSTANTIATE_TEST_SUITE_P(Strategies, KilledServerTest, ::testing::Values("ps-sync"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

class FrozenRecoveryTest : public RecoveryJobTest {};

TEST_P(FrozenRecoveryTest, AFrozenWorkerIsReplaced) {
  const ScopedVariable variable("RINGSIDE_FAULT", "freeze@rank1:step10");
  const JobOutcome outcome = Run(Spec(2), "run", OnFailure::kRestart);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_GE(outcome.summary["first_step"], 4);
  EXPECT_THAT(outcome.summary["failed_generations"][0]["error"].get<std::string>(),
              HasSubstr("worker 1"));
}

INSTANTIATE_TEST_SUITE_P(Strategies, FrozenRecoveryTest, ::testing::Values("ring", "ps-sync"),
                         [](const auto& suite_case) {
                           std::string name = suite_case.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace ringside
