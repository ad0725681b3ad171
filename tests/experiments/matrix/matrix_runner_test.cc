// Tests in which order runs are carried out, and which are tried again.
#include "ringside/experiments/matrix/matrix_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/directory_lock.h"
#include "ringside/experiments/spec/bundle.h"
#include "tests/experiments/matrix/matrix_runner_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST_F(MatrixRunnerTest, RunsAllInOrder) {
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.done, 4);
  EXPECT_EQ(tally.failed, 0);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    EXPECT_EQ(carried_[i], runs_[i].spec.workers);
    EXPECT_EQ(BundleStatus(directory_ / runs_[i].id), "done");
  }
  EXPECT_TRUE(fs::exists(directory_ / "matrix.yaml"));
}

TEST_F(MatrixRunnerTest, ARunHasTheTimeLimitOfItsSpecOrElseTheOneThatWasAskedFor) {
  job_.time_limit_s = 7;
  Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(time_limits_, std::vector<double>(4, 7.0));
  spec_.time_limit_s = 120;
  time_limits_.clear();
  Run(ExistingRunPolicy::kForce);
  EXPECT_EQ(time_limits_, std::vector<double>(4, 120.0));
}

TEST_F(MatrixRunnerTest, TellsAfterEveryRunHowMuchTimeIsLeft) {
  Run(ExistingRunPolicy::kRefuse);
  ASSERT_EQ(said_.size(), 4U);
  for (std::size_t i = 0; i < said_.size(); ++i) {
    EXPECT_THAT(said_[i], HasSubstr(std::to_string(i + 1) + "/4] "));
    EXPECT_EQ(said_[i].ends_with(" left"), i + 1 < said_.size()) << said_[i];
  }
}

TEST_F(MatrixRunnerTest, TellsOfARunThatTheMachineLimited) {
  limited_ = runs_[1].spec.workers;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.done, 4);
  EXPECT_EQ(tally.limited, 1);
  EXPECT_THAT(said_[1], HasSubstr(": done, limited by the machine, in "));
  EXPECT_THAT(said_[2], ::testing::Not(HasSubstr("limited")));
}

TEST_F(MatrixRunnerTest, GoesOnAfterAFailureAndRecordsOneThatNeverStarted) {
  fails_ = 2;
  throws_ = 3;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.done, 2);
  EXPECT_EQ(tally.failed, 2);
  for (const PlannedRun& run : runs_) {
    if (run.spec.workers != 3) continue;
    const auto summary = ReadJsonFile(directory_ / run.id / kSummaryFile);
    EXPECT_EQ(summary["status"], "failed");
    EXPECT_THAT(summary["error"].get<std::string>(), HasSubstr("worker 1"));
    EXPECT_EQ(ReadJsonFile(directory_ / run.id / kSpecFile)["workers"], 3);
  }
}

TEST_F(MatrixRunnerTest, ASignalAtTheEndOfARunEndsItAndTheRunCounts) {
  signalled_ = runs_[1].spec.workers;
  const MatrixRunCounts counts = Run(ExistingRunPolicy::kRefuse);
  EXPECT_TRUE(counts.interrupted);
  EXPECT_EQ(counts.done, 2);
  EXPECT_EQ(carried_.size(), 2U);
}

TEST_F(MatrixRunnerTest, AFailureAfterASignalIsNotTriedAgain) {
  fails_ = signalled_ = runs_[1].spec.workers;
  failure_ = FailureKind::kSignal;
  const MatrixRunCounts counts = Run(ExistingRunPolicy::kRefuse);
  EXPECT_TRUE(counts.interrupted);
  EXPECT_EQ(carried_.size(), 2U);
}

TEST_F(MatrixRunnerTest, AnInterruptEndsItAndResumeGoesOn) {
  interrupts_ = runs_[2].spec.workers;
  const MatrixRunCounts first = Run(ExistingRunPolicy::kRefuse);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.done, 2);
  EXPECT_EQ(carried_.size(), 3U);
  interrupts_ = 0;
  carried_.clear();
  const MatrixRunCounts second = Run(ExistingRunPolicy::kResume);
  EXPECT_EQ(second.skipped, 2);
  EXPECT_EQ(second.done, 2);
  EXPECT_THAT(carried_, ::testing::ElementsAre(runs_[2].spec.workers, runs_[3].spec.workers));
}

TEST_F(MatrixRunnerTest, ASignalBetweenTwoRunsEndsItToo) {
  interrupted_after_ = 2;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_TRUE(tally.interrupted);
  EXPECT_EQ(tally.done, 2);
  EXPECT_THAT(Indexed(), ::testing::SizeIs(2));
  interrupted_after_ = 0;
  EXPECT_EQ(Run(ExistingRunPolicy::kResume).done, 2);
}

TEST_F(MatrixRunnerTest, RetriesOnlyTheFailed) {
  fails_ = 2;
  Run(ExistingRunPolicy::kRefuse);
  fails_ = 0;
  carried_.clear();
  EXPECT_EQ(Run(ExistingRunPolicy::kResume).skipped, 4);
  EXPECT_EQ(Run(ExistingRunPolicy::kRetryFailed).done, 1);
  EXPECT_THAT(carried_, ::testing::ElementsAre(2));
}

TEST_F(MatrixRunnerTest, RefusesToReplaceUnlessForced) {
  Run(ExistingRunPolicy::kRefuse);
  EXPECT_THROW(Run(ExistingRunPolicy::kRefuse), UsageError);
  EXPECT_EQ(carried_.size(), 4U);
  const fs::path leftover = directory_ / runs_[0].id / "leftover";
  std::ofstream(leftover) << "x";
  EXPECT_EQ(Run(ExistingRunPolicy::kForce).done, 4);
  EXPECT_FALSE(fs::exists(leftover));
}

TEST_F(MatrixRunnerTest, OneMatrixADirectory) {
  const DirectoryLock lock(directory_);
  EXPECT_THROW(Run(ExistingRunPolicy::kRefuse), Error);
  EXPECT_TRUE(carried_.empty());
}

TEST_F(MatrixRunnerTest, TriesAgainWhereSomebodyWasKilled) {
  fails_ = 3;
  fails_times_ = 2;
  failure_ = FailureKind::kSignal;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.done, 4);
  EXPECT_EQ(tally.retried, 2);
  EXPECT_EQ(SummaryOf(3)["attempt"], 3);
  EXPECT_THAT(SummaryOf(3)["earlier_attempts"], ::testing::ElementsAre("because", "because"));
  EXPECT_EQ(SummaryOf(1)["attempt"], 1);
  EXPECT_THAT(said_, ::testing::Contains(HasSubstr("attempt 3 of 3")));
  EXPECT_THAT(left_between_attempts_, ::testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST_F(MatrixRunnerTest, TriesAgainWhereARunWasLostBeforeItStarted) {
  throws_ = 3;
  throws_times_ = 1;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.done, 4);
  EXPECT_EQ(tally.retried, 1);
  EXPECT_EQ(SummaryOf(3)["attempt"], 2);
  EXPECT_THAT(SummaryOf(3)["earlier_attempts"][0].get<std::string>(), HasSubstr("worker 1"));
  EXPECT_THAT(left_between_attempts_, ::testing::ElementsAre(std::nullopt));
}

TEST_F(MatrixRunnerTest, TheLastAttemptIsRecordedWhateverItWas) {
  throws_ = 3;
  fails_ = 2;
  failure_ = FailureKind::kSignal;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.failed, 2);
  EXPECT_EQ(tally.retried, 4);
  EXPECT_EQ(SummaryOf(3)["status"], "failed");
  EXPECT_EQ(SummaryOf(3)["attempt"], 3);
  EXPECT_EQ(SummaryOf(2)["attempt"], 3);
}

TEST_F(MatrixRunnerTest, GivesUpAfterTheRetriesThatItsSpecGrants) {
  fails_ = 3;
  failure_ = FailureKind::kComm;
  spec_.retries = 1;
  const MatrixRunCounts tally = Run(ExistingRunPolicy::kRefuse);
  EXPECT_EQ(tally.failed, 1);
  EXPECT_EQ(std::ranges::count(carried_, 3), 2);
}

TEST_F(MatrixRunnerTest, WhatFailsForAReasonOfItsOwnIsNotTriedAgain) {
  fails_ = 3;
  for (const FailureKind kind :
       {FailureKind::kEarlyExit, FailureKind::kLost, FailureKind::kDiverged, FailureKind::kData}) {
    failure_ = kind;
    carried_.clear();
    Run(ExistingRunPolicy::kForce);
    EXPECT_EQ(std::ranges::count(carried_, 3), 1) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace ringside
