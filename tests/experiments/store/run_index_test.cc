#include "ringside/experiments/store/run_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunIndexTest : public ::testing::Test {
 protected:
  RunIndexTest()
      : directory_(fs::path(::testing::TempDir()) /
                   (std::string("index-") +
                    ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~RunIndexTest() override { fs::remove_all(directory_); }

  void WriteBundle(const std::string& path, const json& changes = json::object()) const {
    fs::create_directories(directory_ / path);
    json summary{{"schema", "ringside.summary/1"},
                 {"run_id", "id-" + path},
                 {"status", "done"},
                 {"strategy", "ring"},
                 {"workers", 4},
                 {"colocated", true},
                 {"step_ms", {{"median", 12.5}}},
                 {"network", {{"link", 1}}}};
    summary.update(changes);
    std::ofstream(directory_ / path / kSummaryFile) << summary.dump();
    std::ofstream(directory_ / path / kSpecFile) << R"({"workers": 4})";
  }

  // Returns the first column of an answer, asked over another connection.
  std::vector<std::string> Ask(const std::string& sql) const {
    std::vector<std::string> rows;
    sqlite3* database = nullptr;
    EXPECT_EQ(::sqlite3_open((directory_ / kIndexFile).c_str(), &database), SQLITE_OK);
    const auto take = [](void* to, int, char** values, char**) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] ? values[0] : "NULL");
      return 0;
    };
    char* error = nullptr;
    EXPECT_EQ(::sqlite3_exec(database, sql.c_str(), take, &rows, &error), SQLITE_OK) << error;
    ::sqlite3_free(error);
    ::sqlite3_close(database);
    return rows;
  }

  fs::path directory_;
};

TEST_F(RunIndexTest, HoldsARowPerBundle) {
  WriteBundle("b");
  WriteBundle("a", {{"status", "failed"}, {"error", "x'); DROP TABLE runs; --"}});
  RunIndex index = RunIndex::Open(directory_);
  EXPECT_EQ(RebuildIndex(index, directory_).rows.size(), 2U);
  EXPECT_THAT(Ask("SELECT path FROM runs ORDER BY path"), ElementsAre("a", "b"));
  EXPECT_THAT(Ask("SELECT error FROM runs WHERE path = 'a'"),
              ElementsAre("x'); DROP TABLE runs; --"));
  EXPECT_THAT(Ask("SELECT step_ms FROM runs WHERE path = 'b'"), ElementsAre("12.5"));
  EXPECT_THAT(Ask("SELECT colocated FROM runs WHERE path = 'b'"), ElementsAre("1"));
  EXPECT_THAT(Ask("SELECT json_extract(network, '$.link') FROM runs WHERE path = 'b'"),
              ElementsAre("1"));
  EXPECT_THAT(Ask("SELECT json_extract(spec, '$.workers') FROM runs WHERE path = 'b'"),
              ElementsAre("4"));
  EXPECT_THAT(Ask("SELECT bound_ms FROM runs WHERE path = 'b'"), ElementsAre("NULL"));
  EXPECT_THAT(Ask("PRAGMA user_version"), ElementsAre("2"));
  EXPECT_THAT(Ask("PRAGMA journal_mode"), ElementsAre("delete"));
}

TEST_F(RunIndexTest, PutsAndRemovesSingleRows) {
  WriteBundle("a");
  RunIndex index = RunIndex::Open(directory_);
  index.Put(ReadRunRow(directory_, "a"));
  WriteBundle("a", {{"status", "failed"}});
  index.Put(ReadRunRow(directory_, "a"));
  EXPECT_THAT(Ask("SELECT status FROM runs"), ElementsAre("failed"));
  index.Remove("a");
  EXPECT_THAT(Ask("SELECT count(*) FROM runs"), ElementsAre("0"));
}

TEST_F(RunIndexTest, TheBundlesAreTheTruth) {
  WriteBundle("a");
  {
    RunIndex index = RunIndex::Open(directory_);
    RebuildIndex(index, directory_);
  }
  fs::remove_all(directory_ / "a");
  WriteBundle("c");
  RunIndex index = RunIndex::Open(directory_);
  RebuildIndex(index, directory_);
  EXPECT_THAT(Ask("SELECT path FROM runs"), ElementsAre("c"));
}

TEST_F(RunIndexTest, HasWhatTheMachineAndItsClockDidAndTheAchievableStep) {
  WriteBundle("limited", {{"achievable_ms", 20.5},
                          {"achievable_ratio", 1.25},
                          {"dilation", {{"factor", 10.0}}},
                          {"fidelity",
                           {{"verdict", "limited"}, {"limited_by", {"the processor: 4 % idle"}}}}});
  WriteBundle("not-judged", {{"dilation", {{"factor", 1}}}, {"fidelity", {{"verdict", nullptr}}}});
  WriteBundle("plain", {{"dilation", nullptr}, {"fidelity", nullptr}});
  RunIndex index = RunIndex::Open(directory_);
  EXPECT_EQ(RebuildIndex(index, directory_).rows.size(), 3U);
  EXPECT_THAT(Ask("SELECT fidelity FROM runs ORDER BY path"),
              ElementsAre("limited", "NULL", "NULL"));
  EXPECT_THAT(Ask("SELECT dilation FROM runs ORDER BY path"), ElementsAre("10.0", "1.0", "NULL"));
  EXPECT_THAT(Ask("SELECT json_extract(limited_by, '$[0]') FROM runs WHERE path = 'limited'"),
              ElementsAre("the processor: 4 % idle"));
  EXPECT_THAT(
      Ask("SELECT achievable_ms || ' ' || achievable_ratio FROM runs WHERE path = 'limited'"),
      ElementsAre("20.5 1.25"));
}

TEST_F(RunIndexTest, ReplacesAnOlderOneThatLacksColumns) {
  WriteBundle("a");
  (void)RunIndex::Open(directory_);
  Ask("ALTER TABLE runs DROP COLUMN fidelity");
  Ask("PRAGMA user_version = 1");
  RunIndex index = RunIndex::Open(directory_);
  RebuildIndex(index, directory_);
  EXPECT_THAT(Ask("SELECT path FROM runs WHERE fidelity IS NULL"), ElementsAre("a"));
  EXPECT_THAT(Ask("PRAGMA user_version"), ElementsAre("2"));
}

TEST_F(RunIndexTest, ReplacesADamagedOne) {
  WriteBundle("a");
  std::ofstream(directory_ / kIndexFile) << std::string(5000, 'x');
  RunIndex index = RunIndex::Open(directory_);
  RebuildIndex(index, directory_);
  EXPECT_THAT(Ask("SELECT path FROM runs"), ElementsAre("a"));
  EXPECT_THAT(Ask("PRAGMA integrity_check"), ElementsAre("ok"));
}

TEST_F(RunIndexTest, LeavesANewerOneAndAStrangersAlone) {
  (void)RunIndex::Open(directory_);
  Ask("PRAGMA user_version = 3");
  try {
    (void)RunIndex::Open(directory_);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("version 3, this build knows 2"));
    EXPECT_THAT(error.what(), HasSubstr("index.sqlite"));
  }
  EXPECT_THAT(Ask("PRAGMA user_version"), ElementsAre("3"));
  fs::remove(directory_ / kIndexFile);
  Ask("CREATE TABLE mine (x)");
  EXPECT_THROW((void)RunIndex::Open(directory_), Error);
  EXPECT_THAT(Ask("SELECT name FROM sqlite_master"), ElementsAre("mine"));
}

TEST_F(RunIndexTest, ReadsTheOthersWhereOneIsDamaged) {
  WriteBundle("a");
  WriteBundle("newer", {{"schema", "ringside.summary/2"}});
  WriteBundle("wrong", {{"workers", "four"}});
  WriteBundle("cut");
  fs::resize_file(directory_ / "cut" / kSummaryFile, 20);
  fs::create_directories(directory_ / "unfinished");
  std::ofstream(directory_ / "unfinished" / kSpecFile) << "{}";
  const BundleScan scan = ScanBundles(directory_);
  ASSERT_EQ(scan.rows.size(), 1U);
  ASSERT_EQ(scan.problems.size(), 4U);
  EXPECT_THAT(scan.problems[0].cause, HasSubstr("summary.json: at byte"));
  EXPECT_THAT(scan.problems[1].cause, HasSubstr("newer Ringside"));
  EXPECT_FALSE(scan.problems[2].damaged);
  EXPECT_THAT(scan.problems[3].cause, HasSubstr("'workers' cannot be \"four\""));
}

TEST_F(RunIndexTest, NumbersThatAreTooLargeAndValuesThatAreTooDeepAreDamage) {
  WriteBundle("a");
  WriteBundle("deep");
  WriteBundle("large");
  std::ofstream(directory_ / "deep" / kSummaryFile)
      << R"({"schema": "ringside.summary/1", "run_id": )" << std::string(100'000, '[')
      << std::string(100'000, ']') << "}";
  std::ofstream(directory_ / "large" / kSummaryFile)
      << R"({"schema": "ringside.summary/1", "step_ms": 1e999})";
  const BundleScan scan = ScanBundles(directory_);
  EXPECT_EQ(scan.rows.size(), 1U);
  ASSERT_EQ(scan.problems.size(), 2U);
  EXPECT_THAT(scan.problems[0].cause, HasSubstr("within each other"));
  EXPECT_THAT(scan.problems[1].cause, HasSubstr("too large"));
}

TEST_F(RunIndexTest, TakesABundleAwaySummaryFirst) {
  WriteBundle("a");
  RemoveBundle(directory_ / "a");
  EXPECT_FALSE(fs::exists(directory_ / "a"));
  RemoveBundle(directory_ / "a");
}

}  // namespace
}  // namespace ringside
