// Tests a runner in the directory of another runner: one that was killed, one whose disk was full,
// one of a newer version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/spec/bundle.h"
#include "tests/experiments/matrix/matrix_runner_testing.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  // As if a runner was killed after the last bundle, while it wrote the line of the journal.
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

TEST_F(MatrixRunnerTest, AJournalWithoutEndIsRefused) {
  fs::create_directories(directory_);
  fs::create_symlink("/dev/zero", directory_ / "journal.jsonl");
  EXPECT_THAT([this] { Journal(directory_).Read(); },
              ThrowsMessage<DataError>(HasSubstr("journal.jsonl: is a device")));
  fs::remove(directory_ / "journal.jsonl");
  std::ofstream(directory_ / "journal.jsonl") << "{";
  fs::resize_file(directory_ / "journal.jsonl", (64 << 20) + 1);
  const auto too_long = ThrowsMessage<DataError>(HasSubstr("journal.jsonl: at byte 67108864"));
  EXPECT_THAT([this] { Journal(directory_).Read(); }, too_long);
  EXPECT_THAT([this] { Journal(directory_).TruncatePartialLine(); }, too_long);
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

}  // namespace
}  // namespace ringside
