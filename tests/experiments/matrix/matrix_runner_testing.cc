#include "tests/experiments/matrix/matrix_runner_testing.h"

#include <sqlite3.h>

#include <fstream>
#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/store/run_index.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {

namespace fs = std::filesystem;

MatrixRunnerTest::MatrixRunnerTest()
    : directory_(fs::path(::testing::TempDir()) /
                 ::testing::UnitTest::GetInstance()->current_test_info()->name()),
      spec_(ParseMatrixSpec("name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\n"
                            "axes: {workers: [1, 2, 3, 4]}\n",
                            "s.yaml", TestCatalog())),
      runs_(PlanMatrix(spec_)) {
  fs::remove_all(directory_);
}

MatrixRunnerTest::~MatrixRunnerTest() { fs::remove_all(directory_); }

MatrixRunCounts MatrixRunnerTest::Run(ExistingRunPolicy existing) {
  return RunMatrix(
      spec_, runs_, directory_, existing, job_,
      [this](const RunSpec& spec, const JobOptions& options) { return Carry(spec, options); },
      *this);
}

void MatrixRunnerTest::SetVersionOfIndex(int version) {
  sqlite3* database = nullptr;
  EXPECT_EQ(::sqlite3_open((directory_ / kIndexFile).c_str(), &database), SQLITE_OK);
  const std::string sql = "PRAGMA user_version = " + std::to_string(version);
  EXPECT_EQ(::sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  ::sqlite3_close(database);
}

nlohmann::json MatrixRunnerTest::SummaryOf(int workers) const {
  for (const PlannedRun& run : runs_) {
    if (run.spec.workers == workers) return ReadSummary(directory_ / run.id);
  }
  return nullptr;
}

std::vector<std::string> MatrixRunnerTest::Indexed() const {
  std::vector<std::string> paths;
  RunIndex index = RunIndex::Open(directory_);
  for (const RunRow& row : RebuildIndex(index, directory_).rows) paths.push_back(row.path);
  return paths;
}

void MatrixRunnerTest::ShowLine(const std::string& line) {
  said_.push_back(line);
  if (line.find("; attempt ") == std::string::npos) return;
  // Records what a runner would leave that is killed at this moment.
  for (const PlannedRun& run : runs_) {
    const bool retried = run.spec.workers == carried_.back();
    if (retried) left_between_attempts_.push_back(BundleStatus(directory_ / run.id));
  }
}

bool MatrixRunnerTest::Interrupted() {
  return interrupted_after_ > 0 && static_cast<int>(carried_.size()) >= interrupted_after_;
}

// Stands in for a job: writes a bundle with the status that the test wants.
JobOutcome MatrixRunnerTest::Carry(const RunSpec& spec, const JobOptions& options) {
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
  outcome.stop_requested = spec.workers == signalled_;
  fs::create_directories(options.bundle_dir);
  outcome.summary = {{"schema", "ringside.summary/1"},
                     {"run_id", RunId(spec)},
                     {"workers", spec.workers},
                     {"wall_seconds", 0.5},
                     {"status", JobStatusName(outcome.status)}};
  if (spec.workers == limited_) outcome.summary["fidelity"] = {{"verdict", "limited"}};
  options.origin.AddTo(outcome.summary, std::nullopt);
  std::ofstream(fs::path(options.bundle_dir) / kSpecFile) << nlohmann::json(spec).dump();
  if (options.another_follows && options.another_follows(outcome)) return outcome;
  std::ofstream(fs::path(options.bundle_dir) / kSummaryFile) << outcome.summary.dump();
  return outcome;
}

}  // namespace ringside
