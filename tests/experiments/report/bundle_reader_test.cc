#include "experiments/report/bundle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/errors.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class BundleReaderTest : public ::testing::Test {
 protected:
  BundleReaderTest()
      : directory_(fs::path(::testing::TempDir()) /
                   ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  ~BundleReaderTest() override { fs::remove_all(directory_); }

  void Write(const std::string& bundle, const std::string& summary,
             const std::string& spec = R"({"workers": 3})") {
    fs::create_directories(directory_ / bundle);
    std::ofstream(directory_ / bundle / "spec.json") << spec;
    if (!summary.empty()) std::ofstream(directory_ / bundle / "summary.json") << summary;
  }

  static constexpr char kGood[] = R"({"schema": "ringside.summary/1", "status": "done"})";

  fs::path directory_;
};

TEST_F(BundleReaderTest, ReadsTheGoodAndTellsOfTheRest) {
  Write("a-good", kGood);
  Write("b-cut", R"({"schema": "ringside.summary/1", "sta)");
  Write("c-newer", R"({"schema": "ringside.summary/2", "status": "done"})");
  Write("d-foreign", R"({"schema": "other/1", "status": "done"})");
  Write("e-unfinished", "");
  Write("f-bare", R"({"status": "done"})");
  Write("g-odd-spec", kGood, R"({"wrokers": 3})");
  Write("h-status", R"({"schema": "ringside.summary/1", "status": 3})");
  Write("i-array", "[]");
  Write("j-good", kGood);
  fs::create_directories(directory_ / "no-bundle");
  const StudyInput study = ReadStudy(directory_);
  ASSERT_EQ(study.runs.size(), 2U);
  EXPECT_EQ(study.runs[0].spec.workers, 3);
  ASSERT_EQ(study.problems.size(), 8U);
  EXPECT_THAT(study.problems[0].cause, HasSubstr("at byte 38"));
  EXPECT_THAT(study.problems[1].cause, HasSubstr("newer than this build"));
  EXPECT_THAT(study.problems[2].cause, HasSubstr("none of Ringside's"));
  EXPECT_THAT(study.problems[3].cause, HasSubstr("unfinished"));
  EXPECT_FALSE(study.problems[3].damaged);
  EXPECT_TRUE(study.problems[4].damaged);
  EXPECT_THAT(study.problems[5].cause, HasSubstr("wrokers"));
}

TEST_F(BundleReaderTest, ReadsASingleBundle) {
  Write("one", kGood);
  const StudyInput study = ReadStudy(directory_ / "one");
  EXPECT_EQ(study.runs.size(), 1U);
  EXPECT_EQ(study.name, "one");
}

TEST_F(BundleReaderTest, RefusesPlacesWithoutResults) {
  EXPECT_THROW(ReadStudy(directory_), Error);
  EXPECT_THROW(ReadStudy(directory_ / "nowhere"), Error);
}

}  // namespace
}  // namespace ringside
