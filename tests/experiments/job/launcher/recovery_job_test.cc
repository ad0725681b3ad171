// Whole jobs whose workers fail and that go on afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/system/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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
                                             .program = RingsideProgram(),
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
  for (const char* fault : {"kill@rank1:step6", "exit@rank0:step6", "kill@rank0:step2"}) {
    const ScopedVariable variable("RINGSIDE_FAULT", fault);
    fs::remove_all(directory_.Path("run"));
    const JobOutcome outcome = Run(Spec(2), "run", OnFailure::kRestart);
    ASSERT_EQ(outcome.status, JobStatus::kDone) << fault << ": " << outcome.error;
    EXPECT_EQ(outcome.summary["restarts"], 1) << fault;
    EXPECT_EQ(outcome.summary["steps"], kSteps);
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
