#include "experiments/matrix/matrix_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/errors.h"
#include "experiments/bundle.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MatrixRunnerTest : public ::testing::Test {
 protected:
  MatrixRunnerTest()
      : directory_(fs::path(::testing::TempDir()) /
                   ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        spec_(ParseMatrixSpec("name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\n"
                              "axes: {workers: [1, 2, 3, 4]}\n",
                              "s.yaml")),
        runs_(PlanMatrix(spec_)) {
    fs::remove_all(directory_);
  }
  ~MatrixRunnerTest() override { fs::remove_all(directory_); }

  MatrixTally Run(Existing existing) {
    return RunMatrix(
        spec_, runs_, directory_, existing, {},
        [this](const RunSpec& spec, const JobOptions& options) { return Carry(spec, options); },
        [this](const std::string& line) { said_.push_back(line); });
  }

  // A run that writes its bundle, with the status that the test wants for its workers.
  JobOutcome Carry(const RunSpec& spec, const JobOptions& options) {
    carried_.push_back(spec.workers);
    if (spec.workers == throws_) throw CommError("worker 1", "the start", "gone");
    JobOutcome outcome;
    outcome.status = spec.workers == fails_        ? JobStatus::kFailed
                     : spec.workers == interrupts_ ? JobStatus::kInterrupted
                                                   : JobStatus::kDone;
    outcome.error = outcome.status == JobStatus::kDone ? "" : "because";
    fs::create_directories(options.bundle_dir);
    outcome.summary = {{"schema", "ringside.summary/1"}, {"status", JobStatusName(outcome.status)}};
    std::ofstream(fs::path(options.bundle_dir) / kSummaryFile) << outcome.summary.dump();
    return outcome;
  }

  fs::path directory_;
  MatrixSpec spec_;
  std::vector<PlannedRun> runs_;
  std::vector<int> carried_;
  std::vector<std::string> said_;
  int throws_ = 0;
  int fails_ = 0;
  int interrupts_ = 0;
};

TEST_F(MatrixRunnerTest, RunsAllInOrder) {
  const MatrixTally tally = Run(Existing::kRefuse);
  EXPECT_EQ(tally.done, 4);
  EXPECT_EQ(tally.failed, 0);
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    EXPECT_EQ(carried_[i], runs_[i].spec.workers);
    EXPECT_EQ(BundleStatus(directory_ / runs_[i].id), "done");
  }
  EXPECT_TRUE(fs::exists(directory_ / "matrix.yaml"));
}

TEST_F(MatrixRunnerTest, GoesOnAfterAFailureAndRecordsOneThatNeverStarted) {
  fails_ = 2;
  throws_ = 3;
  const MatrixTally tally = Run(Existing::kRefuse);
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

TEST_F(MatrixRunnerTest, AnInterruptEndsItAndResumeGoesOn) {
  interrupts_ = runs_[2].spec.workers;
  const MatrixTally first = Run(Existing::kRefuse);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.done, 2);
  EXPECT_EQ(carried_.size(), 3U);
  interrupts_ = 0;
  carried_.clear();
  const MatrixTally second = Run(Existing::kResume);
  EXPECT_EQ(second.skipped, 2);
  EXPECT_EQ(second.done, 2);
  EXPECT_THAT(carried_, ::testing::ElementsAre(runs_[2].spec.workers, runs_[3].spec.workers));
}

TEST_F(MatrixRunnerTest, RetriesOnlyTheFailed) {
  fails_ = 2;
  Run(Existing::kRefuse);
  fails_ = 0;
  carried_.clear();
  EXPECT_EQ(Run(Existing::kResume).skipped, 4);
  EXPECT_EQ(Run(Existing::kRetryFailed).done, 1);
  EXPECT_THAT(carried_, ::testing::ElementsAre(2));
}

TEST_F(MatrixRunnerTest, RefusesToReplaceUnlessForced) {
  Run(Existing::kRefuse);
  EXPECT_THROW(Run(Existing::kRefuse), UsageError);
  EXPECT_EQ(carried_.size(), 4U);
  const fs::path leftover = directory_ / runs_[0].id / "leftover";
  std::ofstream(leftover) << "x";
  EXPECT_EQ(Run(Existing::kForce).done, 4);
  EXPECT_FALSE(fs::exists(leftover));
}

TEST_F(MatrixRunnerTest, OneMatrixADirectory) {
  const DirectoryLock lock(directory_);
  EXPECT_THROW(Run(Existing::kRefuse), Error);
  EXPECT_TRUE(carried_.empty());
}

TEST_F(MatrixRunnerTest, EstimatesFromTheJournal) {
  EXPECT_FALSE(EstimateSeconds(runs_, directory_).has_value());
  fs::create_directories(directory_);
  std::ofstream(directory_ / "journal.jsonl")
      << R"({"kind":"ring/1","status":"done","seconds":1})" << '\n'
      << R"({"kind":"ring/2","status":"done","seconds":3})" << '\n'
      << R"({"kind":"ring/2","status":"failed","seconds":1000})" << '\n'
      << R"({"kind":"ring/4","status":"done","seconds":9})" << '\n'
      << R"({"kind":"ring/3","sta)";
  // 1, 2 and 4 workers as timed, 3 workers by the median of all.
  EXPECT_EQ(EstimateSeconds(runs_, directory_), 1 + 3 + 9 + 3);
}

}  // namespace
}  // namespace ringside
