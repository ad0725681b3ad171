#include "ringside/experiments/matrix/matrix_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/matrix/directory_lock.h"
#include "ringside/experiments/matrix/estimate.h"
#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/store/run_index.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class MatrixRunnerTest : public ::testing::Test, public MatrixListener {
 protected:
  MatrixRunnerTest()
      : directory_(fs::path(::testing::TempDir()) /
                   ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        spec_(ParseMatrixSpec("name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\n"
                              "axes: {workers: [1, 2, 3, 4]}\n",
                              "s.yaml", TestCatalog())),
        runs_(PlanMatrix(spec_)) {
    fs::remove_all(directory_);
  }
  ~MatrixRunnerTest() override { fs::remove_all(directory_); }

  void SetVersionOfIndex(int version) {
    sqlite3* database = nullptr;
    EXPECT_EQ(::sqlite3_open((directory_ / kIndexFile).c_str(), &database), SQLITE_OK);
    const std::string sql = "PRAGMA user_version = " + std::to_string(version);
    EXPECT_EQ(::sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    ::sqlite3_close(database);
  }
  MatrixRunCounts Run(ExistingRunPolicy existing) {
    return RunMatrix(
        spec_, runs_, directory_, existing, job_,
        [this](const RunSpec& spec, const JobOptions& options) { return Carry(spec, options); },
        *this);
  }
  void ShowLine(const std::string& line) override {
    said_.push_back(line);
    if (line.find("; attempt ") == std::string::npos) return;
    // The state that a runner killed at this moment leaves.
    for (const PlannedRun& run : runs_) {
      const bool retried = run.spec.workers == carried_.back();
      if (retried) left_between_attempts_.push_back(BundleStatus(directory_ / run.id));
    }
  }

  bool Interrupted() override {
    return interrupted_after_ > 0 && static_cast<int>(carried_.size()) >= interrupted_after_;
  }

  // A run that writes its bundle, with the status that the test wants for its workers.
  JobOutcome Carry(const RunSpec& spec, const JobOptions& options) {
    carried_.push_back(spec.workers);
    time_limits_.push_back(options.time_limit_s);
    if (spec.workers == throws_ && throws_times_-- > 0)
      throw CommError("worker 1", "the start", "gone");
    if (spec.workers == full_) {
      fs::create_directories(options.bundle_dir);
      return {.status = JobStatus::kFailed, .error = "metrics.jsonl: no space left"};
    }
    JobOutcome outcome;
    const bool fails_now = spec.workers == fails_ && fails_times_-- > 0;
    if (fails_now) outcome.failure = failure_;
    outcome.status = fails_now                     ? JobStatus::kFailed
                     : spec.workers == interrupts_ ? JobStatus::kInterrupted
                                                   : JobStatus::kDone;
    outcome.error = outcome.status == JobStatus::kDone ? "" : "because";
    fs::create_directories(options.bundle_dir);
    outcome.summary = {{"schema", "ringside.summary/1"},
                       {"run_id", RunId(spec)},
                       {"workers", spec.workers},
                       {"wall_seconds", 0.5},
                       {"status", JobStatusName(outcome.status)}};
    options.origin.AddTo(outcome.summary);
    std::ofstream(fs::path(options.bundle_dir) / kSpecFile) << nlohmann::json(spec).dump();
    if (options.more_attempts && IsRetryable(outcome)) return outcome;
    std::ofstream(fs::path(options.bundle_dir) / kSummaryFile) << outcome.summary.dump();
    return outcome;
  }

  nlohmann::json SummaryOf(int workers) const {
    for (const PlannedRun& run : runs_) {
      if (run.spec.workers == workers) return ReadSummary(directory_ / run.id);
    }
    return nullptr;
  }
  std::vector<std::string> Indexed() const {
    std::vector<std::string> paths;
    RunIndex index = RunIndex::Open(directory_);
    for (const RunRow& row : RebuildIndex(index, directory_).rows) paths.push_back(row.path);
    return paths;
  }

  fs::path directory_;
  MatrixSpec spec_;
  std::vector<PlannedRun> runs_;
  JobOptions job_;
  std::vector<int> carried_;
  std::vector<double> time_limits_;
  std::vector<std::string> said_;
  std::vector<std::optional<std::string>> left_between_attempts_;
  int throws_ = 0;
  int throws_times_ = 1000;
  int fails_ = 0;
  int fails_times_ = 1000;
  FailureKind failure_ = FailureKind::kEarlyExit;
  int full_ = 0;
  int interrupts_ = 0;
  int interrupted_after_ = 0;  // runs; 0: never
};

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

TEST_F(MatrixRunnerTest, TellsOfRunsThatADeadRunnerLeft) {
  fs::create_directories(directory_ / runs_[1].id);
  std::ofstream(directory_ / runs_[1].id / "metrics.jsonl") << "{";
  EXPECT_EQ(Run(ExistingRunPolicy::kResume).done, 4);
  EXPECT_THAT(said_, ::testing::Contains(HasSubstr("orphaned: 1 run was left unfinished")));
  EXPECT_THAT(SummaryOf(runs_[1].spec.workers)["earlier_attempts"][0].get<std::string>(),
              HasSubstr("orphaned"));
  EXPECT_FALSE(fs::exists(directory_ / runs_[1].id / "metrics.jsonl"));
}

TEST_F(MatrixRunnerTest, BringsJournalAndIndexUpToTheBundles) {
  Run(ExistingRunPolicy::kRefuse);
  // Killed after the last bundle was finished, before its line and its row, in the middle of one.
  const fs::path journal = directory_ / "journal.jsonl";
  fs::resize_file(journal, fs::file_size(journal) - 9);
  fs::remove(directory_ / "index.sqlite");
  std::ofstream(directory_ / "matrix.yaml.tmp4711") << "name: a";
  std::ofstream(directory_ / "notes.tmp") << "somebody's own";
  carried_.clear();
  EXPECT_EQ(Run(ExistingRunPolicy::kResume).skipped, 4);
  EXPECT_TRUE(carried_.empty());
  EXPECT_FALSE(fs::exists(directory_ / "matrix.yaml.tmp4711"));
  EXPECT_TRUE(fs::exists(directory_ / "notes.tmp"));
  const auto lines = Journal(directory_).Read();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_FALSE(lines[2].recovered);
  EXPECT_TRUE(lines[3].recovered);
  EXPECT_EQ(lines[3].run_id, runs_[3].id);
  EXPECT_EQ(lines[3].seconds, 0.5);
  EXPECT_EQ(Indexed().size(), 4U);
  Run(ExistingRunPolicy::kResume);
  EXPECT_EQ(Journal(directory_).Read().size(), 4U) << "recovered twice";
}

TEST_F(MatrixRunnerTest, StopsWhereResultsCannotBeWrittenAndGoesOnLater) {
  full_ = runs_[2].spec.workers;
  try {
    Run(ExistingRunPolicy::kRefuse);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no space left"));
    EXPECT_THAT(error.what(), HasSubstr(runs_[2].id));
  }
  full_ = 0;
  carried_.clear();
  EXPECT_EQ(Run(ExistingRunPolicy::kResume).done, 2);
  EXPECT_THAT(carried_, ::testing::ElementsAre(runs_[2].spec.workers, runs_[3].spec.workers));
}

TEST_F(MatrixRunnerTest, LeavesBundlesOfANewerVersionAlone) {
  Run(ExistingRunPolicy::kRefuse);
  const fs::path file = directory_ / runs_[0].id / kSummaryFile;
  const std::string newer = R"({"schema":"ringside.summary/2","status":"done"})";
  std::ofstream(file) << newer;
  carried_.clear();
  for (const ExistingRunPolicy existing :
       {ExistingRunPolicy::kResume, ExistingRunPolicy::kRetryFailed, ExistingRunPolicy::kForce}) {
    EXPECT_THROW(Run(existing), Error);
  }
  EXPECT_TRUE(carried_.empty());
  std::string kept;
  std::getline(std::ifstream(file), kept);
  EXPECT_EQ(kept, newer);
}

TEST_F(MatrixRunnerTest, LeavesAnIndexOfANewerVersionAlone) {
  Run(ExistingRunPolicy::kRefuse);
  SetVersionOfIndex(99);
  carried_.clear();
  EXPECT_THROW(Run(ExistingRunPolicy::kForce), Error);
  EXPECT_TRUE(carried_.empty());
}

TEST_F(MatrixRunnerTest, EstimatesFromTheJournal) {
  fs::create_directories(directory_);
  std::ofstream(directory_ / "journal.jsonl")
      << R"({"kind":"ring/1","status":"done","seconds":1})" << '\n'
      << R"({"kind":"ring/2","status":"done","seconds":3})" << '\n'
      << R"({"kind":"ring/2","status":"failed","seconds":1000})" << '\n'
      << R"({"kind":"ring/4","status":"done","seconds":9})" << '\n'
      << R"({"kind":"ring/3","sta)";
  // 1, 2 and 4 workers as timed, 3 workers by the median of all.
  const Estimate estimate = EstimateTime(runs_, Journal(directory_).Read());
  EXPECT_EQ(estimate.seconds, 1 + 3 + 9 + 3);
  EXPECT_EQ(estimate.timed, 4);
}

TEST_F(MatrixRunnerTest, EstimatesFromItsOwnRepetitionsFirst) {
  const std::vector<JournalLine> journal{{.run_id = "a",
                                          .label = "",
                                          .kind = "ring/1",
                                          .cell = "another",
                                          .status = "done",
                                          .seconds = 50},
                                         {.run_id = "b",
                                          .label = "",
                                          .kind = "ring/1",
                                          .cell = CellOf(runs_[0].spec),
                                          .status = "done",
                                          .seconds = 2}};
  PlannedRun again = runs_[0];
  again.spec.repetition = 7;
  EXPECT_EQ(EstimateTime({again}, journal).seconds, 2);
}

std::vector<PlannedRun> PlanOf(const std::string& defaults) {
  return PlanMatrix(ParseMatrixSpec("name: a\ndefaults: " + defaults + "\naxes: {workers: [2]}\n",
                                    "s.yaml", TestCatalog()));
}

TEST(Estimate, CalculatesWhereNothingWasTimed) {
  const Estimate compute =
      EstimateTime(PlanOf("{model: 'profile:vgg16', steps: 100, compute-ms: 50}"), {});
  EXPECT_DOUBLE_EQ(compute.seconds, kNominalOverheadSeconds + 100 * 0.050);
  EXPECT_EQ(compute.calculated, 1);
  EXPECT_THAT(compute.Text(), HasSubstr("compute-ms"));
  // A ring of two sends the 4 bytes of each of VGG-16's 138.4 million parameters once: over 4 s at
  // 1 Gbit/s, far longer than it computes.
  const Estimate wire =
      EstimateTime(PlanOf("{model: 'profile:vgg16', steps: 100, compute-ms: 50, link: 1Gbps}"), {});
  EXPECT_NEAR(wire.seconds, 100 * 138.36e6 * 4 / (1e9 * 1448 / 1514 / 8), 5);
}

}  // namespace
}  // namespace ringside
