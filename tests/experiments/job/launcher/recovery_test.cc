#include "ringside/experiments/job/launcher/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

JobOutcome Failed(FailureKind kind, const std::string& member = "worker 1") {
  return {.status = JobStatus::kFailed,
          .error = member + " was killed",
          .summary = {{"failure", FailureRecord(kind, member, 1)}, {"last_words", {{"text", "w"}}}},
          .failure = kind,
          .steps = {.first = 0, .done = {7, 6, 6, 5}}};
}

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() {
    options_.bundle_dir = directory_.path();
    options_.show_progress = false;
    options_.recovery = {.on_failure = OnFailure::kRestart, .max_restarts = 2};
    spec_ = ProfileSpec("ring", 4, 20);
  }

  /// Runs with made-up outcomes, one for each generation. Every generation writes its metrics.
  JobOutcome Run(std::vector<JobOutcome> outcomes) {
    std::size_t generation = 0;
    return RunWithRecovery(spec_, options_, [&](const RunSpec& spec, const JobOptions& options) {
      EXPECT_LT(generation, outcomes.size()) << "one generation too many";
      specs_.push_back(spec);
      asked_.push_back(options);
      EXPECT_FALSE(fs::exists(directory_.Path("metrics.jsonl")));
      WriteFileAtomically(directory_.Path("metrics.jsonl"), std::to_string(generation));
      fs::create_directories(directory_.Path("logs"));
      if (write_checkpoints_) {
        fs::create_directories(directory_.Path("checkpoints"));
        WriteFileAtomically(directory_.Path("checkpoints/step-4.ckpt"), "");
      }
      if (!remove_.empty()) fs::remove(remove_);
      return outcomes[generation++];
    });
  }

  static JobOutcome Done() { return {.status = JobStatus::kDone}; }

  const TemporaryDirectory directory_;
  JobOptions options_;
  RunSpec spec_;
  bool write_checkpoints_ = true;
  fs::path remove_;  // by each generation
  std::vector<RunSpec> specs_;
  std::vector<JobOptions> asked_;
};

TEST_F(RecoveryTest, ARunThatIsDoneIsNotStartedAgain) {
  EXPECT_EQ(Run({Done()}).status, JobStatus::kDone);
  EXPECT_EQ(asked_[0].generation, 0);
  EXPECT_EQ(asked_[0].resume, "");
  EXPECT_FALSE(asked_[0].origin.asked);
}

TEST_F(RecoveryTest, AFailedOneGoesOnFromItsCheckpoint) {
  const JobOutcome outcome =
      Run({Failed(FailureKind::kSignal), Failed(FailureKind::kLost), Done()});
  EXPECT_EQ(outcome.status, JobStatus::kDone);
  ASSERT_EQ(asked_.size(), 3U);
  EXPECT_EQ(asked_[2].generation, 2);
  EXPECT_EQ(asked_[2].resume, directory_.Path("checkpoints"));
  ASSERT_EQ(asked_[2].origin.generations.size(), 2U);
  EXPECT_EQ(asked_[2].origin.generations[0].error, "worker 1 was killed");
  EXPECT_EQ(asked_[2].origin.generations[0].steps.done[0], 7);
  EXPECT_FALSE(asked_[2].origin.generations[0].updates_alone);
  EXPECT_EQ(asked_[2].origin.generations[0].last_words, (nlohmann::json{{"text", "w"}}));
  EXPECT_EQ(RunId(*asked_[2].origin.asked), RunId(spec_));
  EXPECT_EQ(ReadFile(directory_.Path("generations/0/metrics.jsonl"), 10), "0");
  EXPECT_EQ(ReadFile(directory_.Path("generations/1/metrics.jsonl"), 10), "1");
  EXPECT_EQ(ReadFile(directory_.Path("metrics.jsonl"), 10), "2");
  EXPECT_TRUE(fs::exists(directory_.Path("generations/0/logs")));
}

TEST_F(RecoveryTest, WithoutACheckpointItStartsWhereTheSpecSays) {
  write_checkpoints_ = false;
  Run({Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(asked_[1].resume, "");
}

// The newer checkpoints are those that the run has left behind.
TEST_F(RecoveryTest, ARunThatWentBackStartsAgainWhereItBeganUntilItHasSaved) {
  fs::create_directories(directory_.Path("checkpoints"));
  for (const char* name : {"step-4.ckpt", "step-8.ckpt"}) {
    WriteFileAtomically(directory_.Path("checkpoints/" + std::string(name)), "old");
  }
  spec_.resume = directory_.Path("checkpoints/step-4.ckpt");
  write_checkpoints_ = false;
  Run({Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(asked_[1].resume, "") << "the newest one was left behind";
  asked_.clear();
  fs::remove(directory_.Path("metrics.jsonl"));
  fs::remove_all(directory_.Path("generations"));
  write_checkpoints_ = true;
  Run({Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(asked_[1].resume, directory_.Path("checkpoints"));
}

// The first save removes newer checkpoints before it writes its own. An older one of its step, from
// the run before, must not be taken for it.
TEST_F(RecoveryTest, ACheckpointThatIsGoneIsNoneThatWasSaved) {
  fs::create_directories(directory_.Path("checkpoints"));
  for (const char* name : {"step-2.ckpt", "step-4.ckpt", "step-8.ckpt"}) {
    WriteFileAtomically(directory_.Path("checkpoints/" + std::string(name)), "old");
  }
  spec_.resume = directory_.Path("checkpoints/step-2.ckpt");
  write_checkpoints_ = false;
  remove_ = directory_.Path("checkpoints/step-8.ckpt");
  Run({Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(asked_[1].resume, "");
}

TEST_F(RecoveryTest, FailuresThatARestartDoesNotMendEndTheRun) {
  for (const FailureKind kind :
       {FailureKind::kDiverged, FailureKind::kProgram, FailureKind::kData, FailureKind::kConfig,
        FailureKind::kMissingBackend, FailureKind::kInternal}) {
    EXPECT_EQ(Run({Failed(kind)}).failure, kind);
    fs::remove(directory_.Path("metrics.jsonl"));
  }
  JobOutcome stopped = Failed(FailureKind::kSignal);
  stopped.stop_requested = true;
  EXPECT_TRUE(Run({stopped}).stop_requested);
  fs::remove(directory_.Path("metrics.jsonl"));
  EXPECT_EQ(Run({{.status = JobStatus::kTimedOut}}).status, JobStatus::kTimedOut);
}

// What follows a failure decides whether it writes a summary.
TEST_F(RecoveryTest, TheNumberOfRestartsIsLimited) {
  const JobOutcome failed = Failed(FailureKind::kEarlyExit);
  EXPECT_EQ(Run({failed, failed, failed}).status, JobStatus::kFailed);
  EXPECT_TRUE(asked_[1].another_follows(failed));
  EXPECT_FALSE(asked_[2].another_follows);
}

TEST_F(RecoveryTest, TheCallersOwnRuleCountsForTheLastGeneration) {
  options_.another_follows = IsRetryable;
  const JobOutcome failed = Failed(FailureKind::kSignal);
  Run({failed, failed, failed});
  EXPECT_TRUE(asked_[2].another_follows(failed));
  EXPECT_FALSE(asked_[2].another_follows(Failed(FailureKind::kLost)));
}

// Such as with a certificate that has run out meanwhile.
TEST_F(RecoveryTest, AGenerationThatCannotBeginLosesNothing) {
  const auto run = [](const RunSpec&, const JobOptions& options) {
    if (options.generation > 0) throw ConfigError("the certificate ran out");
    JobOutcome failed = Failed(FailureKind::kSignal);
    failed.summary = {{"steps", 7}, {"error", failed.error}};
    return failed;
  };
  const JobOutcome outcome = RunWithRecovery(spec_, options_, run);
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  EXPECT_EQ(outcome.failure, FailureKind::kSignal);
  EXPECT_EQ(outcome.error,
            "worker 1 was killed; the run cannot start again: the certificate ran out");
  const auto written = nlohmann::json::parse(ReadFile(directory_.Path("summary.json"), 10'000));
  EXPECT_EQ(written["steps"], 7);
  EXPECT_EQ(written["error"], outcome.error);
  EXPECT_EQ(written["restarts"], 0);
  EXPECT_EQ(written["run_id"], RunId(spec_));
  options_.another_follows = IsRetryable;
  fs::remove(directory_.Path("summary.json"));
  RunWithRecovery(spec_, options_, run);
  EXPECT_FALSE(fs::exists(directory_.Path("summary.json")));
}

TEST_F(RecoveryTest, ARunThatCannotBeginIsRefused) {
  const auto run = [](const RunSpec&, const JobOptions&) -> JobOutcome {
    throw ConfigError("the certificate ran out");
  };
  EXPECT_THROW(RunWithRecovery(spec_, options_, run), ConfigError);
}

TEST_F(RecoveryTest, TimeOfEarlierGenerationsCounts) {
  Run({Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(asked_[0].time_used_s, 0);
  EXPECT_GT(asked_[1].time_used_s, 0);
}

TEST_F(RecoveryTest, AShrunkRunHasTheSameSteps) {
  options_.recovery.on_failure = OnFailure::kShrink;
  Run({Failed(FailureKind::kSignal), Failed(FailureKind::kSignal), Done()});
  EXPECT_EQ(specs_[1].workers, 3);
  EXPECT_EQ(specs_[2].workers, 2);
  EXPECT_EQ(specs_[2].ResolvedGlobalBatch(), spec_.ResolvedGlobalBatch());
  EXPECT_EQ(asked_[2].origin.generations[1].workers, 3);
  EXPECT_EQ(asked_[2].origin.asked->workers, 4);
}

TEST_F(RecoveryTest, ALostServerTakesNoWorkerWithIt) {
  options_.recovery.on_failure = OnFailure::kShrink;
  spec_ = ProfileSpec("ps-sync", 2, 20);
  const JobOutcome lost_server = Failed(FailureKind::kLost, "server 0");
  Run({Failed(FailureKind::kSignal), lost_server, Done()});
  ASSERT_EQ(specs_.size(), 3U);
  EXPECT_EQ(specs_[1].workers, 1);
  EXPECT_EQ(specs_[2].workers, 1);
  EXPECT_TRUE(asked_[1].another_follows(lost_server));
  EXPECT_FALSE(asked_[1].another_follows(Failed(FailureKind::kLost)));  // no worker would be left
}

TEST_F(RecoveryTest, WithoutALostServerThereIsOneWorkerLess) {
  options_.recovery.on_failure = OnFailure::kShrink;
  spec_ = ProfileSpec("ps-sync", 4, 20);
  // Nobody is named when a launcher such as mpirun ends early.
  Run({Failed(FailureKind::kEarlyExit, ""), Failed(FailureKind::kLost, "agent of server 0"),
       Done()});
  EXPECT_EQ(specs_[1].workers, 3);
  EXPECT_EQ(specs_[2].workers, 3);
  fs::remove(directory_.Path("metrics.jsonl"));
  specs_.clear();
  spec_.colocated = true;
  spec_.servers = 4;
  Run({Failed(FailureKind::kComm, "server 1"), Done()});  // of worker 1
  EXPECT_EQ(specs_[1].workers, 3);
}

TEST_F(RecoveryTest, WhatCannotShrinkIsRefusedBeforeAnythingStarts) {
  options_.recovery.on_failure = OnFailure::kShrink;
  spec_ = ProfileSpec("ring", 1, 20);
  EXPECT_THROW(Run({}), ConfigError);
  spec_ = ProfileSpec("ring", 2, 20);
  spec_.scale_lr_with_workers = true;
  EXPECT_THROW(Run({}), ConfigError);
  spec_ = ProfileSpec("ring", 2, 20);
  EXPECT_EQ(Run({Failed(FailureKind::kSignal), Failed(FailureKind::kSignal)}).status,
            JobStatus::kFailed);  // one worker is left
}

TEST(Shrunk, ServersFollowTheWorkersThatHoldThem) {
  RunSpec spec = ProfileSpec("ps-sync", 4, 20);
  spec.colocated = true;
  spec.servers = 4;
  EXPECT_EQ(Shrunk(spec).servers, 3);
  spec.servers = 2;
  EXPECT_EQ(Shrunk(spec).servers, 2);
}

}  // namespace
}  // namespace ringside
