#include "ringside/experiments/report/runs/bundle_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <limits>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"
#include "tests/experiments/test_catalog.h"

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
  const StudyInput study = ReadStudy(directory_, TestCatalog());
  ASSERT_EQ(study.runs.size(), 2U);
  EXPECT_EQ(study.runs[0].spec.workers, 3);
  ASSERT_EQ(study.problems.size(), 8U);
  EXPECT_THAT(study.problems[0].cause, HasSubstr("at byte 38"));
  EXPECT_THAT(study.problems[1].cause, HasSubstr("newer than this build"));
  EXPECT_THAT(study.problems[2].cause, HasSubstr("not one of Ringside's"));
  EXPECT_THAT(study.problems[3].cause, HasSubstr("unfinished"));
  EXPECT_FALSE(study.problems[3].damaged);
  EXPECT_TRUE(study.problems[4].damaged);
  EXPECT_THAT(study.problems[5].cause, HasSubstr("wrokers"));
}

TEST_F(BundleReaderTest, LeavesOutBundlesWhoseFilesHaveNoEnd) {
  const auto replace = [this](const std::string& bundle, const char* file) {
    Write(bundle, kGood);
    fs::remove(directory_ / bundle / file);
    return directory_ / bundle / file;
  };
  fs::create_symlink("/dev/zero", replace("a-endless", "summary.json"));
  ASSERT_EQ(::mkfifo(replace("b-pipe", "spec.json").c_str(), 0600), 0);
  std::ofstream(replace("c-long", "spec.json")) << '{';
  fs::resize_file(directory_ / "c-long" / "spec.json", kMaxJsonFileBytes + 1);
  ASSERT_EQ(::mkfifo(replace("d-pipe", "metrics.jsonl").c_str(), 0600), 0);
  const fs::path side = replace("e-good", "environment.json");
  ASSERT_EQ(::mkfifo(side.c_str(), 0600), 0);
  const StudyInput study = ReadStudy(directory_, TestCatalog());
  EXPECT_EQ(study.runs.size(), 1U);
  ASSERT_EQ(study.problems.size(), 4U);
  EXPECT_THAT(study.problems[0].cause, HasSubstr("summary.json: is a device"));
  EXPECT_THAT(study.problems[1].cause, HasSubstr("spec.json: is a FIFO"));
  EXPECT_THAT(study.problems[2].cause, HasSubstr("it may be no longer than 16777216 bytes"));
  EXPECT_THAT(study.problems[3].cause, HasSubstr("metrics.jsonl: is a FIFO"));
  // Others that read bundles.
  EXPECT_EQ(BundleStatus(directory_ / "a-endless"), "corrupt");
  EXPECT_THROW(ReadBundleSource(directory_ / "b-pipe", TestCatalog()), DataError);
}

TEST_F(BundleReaderTest, ReadsWhatLiesBesideTheSummary) {
  Write("one", kGood);
  std::ofstream(directory_ / "one" / "metrics.jsonl")
      << R"({"kind":"step","step":0,"step_ms":12.5,"loss":1})"
         "\n"
      << R"({"kind":"step","step":1,"step_ms":9.25e0,"loss":1})"
         "\n"
      << R"({"kind":"evaluation","step":2,"epoch":0.5,"train_seconds":1.5,"train_loss":null,)"
      << R"("loss":0.25,"accuracy":0.75})"
         "\n"
      << R"(no line of ours)"
         "\n"
      << R"({"kind":"step","step":2,"step_ms":)";
  std::ofstream(directory_ / "one" / "environment.json") << R"({"cores": 2})";
  std::ofstream(directory_ / "one" / "network.json") << "{torn";
  const RunResult run = ReadStudy(directory_, TestCatalog()).runs.at(0);
  EXPECT_THAT(run.metrics.step_ms, ::testing::ElementsAre(12.5, 9.25));
  ASSERT_EQ(run.metrics.evaluations.size(), 1U);
  EXPECT_EQ(run.metrics.evaluations[0].step, 2);
  EXPECT_EQ(run.metrics.evaluations[0].accuracy, 0.75);
  EXPECT_FALSE(run.metrics.evaluations[0].train_loss.has_value());
  EXPECT_EQ(run.environment["cores"], 2);
  EXPECT_TRUE(run.network.is_null());
}

// The file is read in parts.
TEST_F(BundleReaderTest, ReadsTheMetricsOfALongRun) {
  constexpr std::size_t kSteps = 70'000;
  Write("one", kGood);
  {
    std::ofstream metrics(directory_ / "one" / "metrics.jsonl");
    for (std::size_t step = 0; step < kSteps; ++step) {
      metrics << R"({"kind":"step","step":)" << step << R"(,"step_ms":)" << step << ".5}\n";
    }
  }
  ASSERT_GT(fs::file_size(directory_ / "one" / "metrics.jsonl"), 3 * kMaxMetricsLineBytes);
  const RunResult run = ReadStudy(directory_, TestCatalog()).runs.at(0);
  ASSERT_EQ(run.metrics.step_ms.size(), kSteps);
  for (std::size_t step = 0; step < kSteps; ++step) {
    ASSERT_EQ(run.metrics.step_ms[step], static_cast<double>(step) + 0.5);
  }
}

TEST_F(BundleReaderTest, LinesOfMetricsEndSomewhere) {
  Write("a-good", kGood);
  Write("b-endless", kGood);
  std::ofstream(directory_ / "a-good" / "metrics.jsonl") << std::string(kMaxMetricsLineBytes, 'x');
  std::ofstream(directory_ / "b-endless" / "metrics.jsonl") << 'x';
  fs::resize_file(directory_ / "b-endless" / "metrics.jsonl", std::uintmax_t{1} << 40);
  const StudyInput study = ReadStudy(directory_, TestCatalog());
  EXPECT_EQ(study.runs.size(), 1U);
  ASSERT_EQ(study.problems.size(), 1U);
  EXPECT_THAT(study.problems[0].cause, HasSubstr("a line is longer than 1048576 bytes"));
}

TEST_F(BundleReaderTest, ValuesThatAreTooDeepDoNoHarm) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  Write("a-good", kGood);
  std::ofstream(directory_ / "a-good" / "environment.json") << R"({"cores": )" << deep << "}";
  std::ofstream(directory_ / "a-good" / "metrics.jsonl")
      << R"({"kind":"evaluation","step":)" << deep << "}\n"
      << R"({"kind":"evaluation","step":1e300,"loss":0.25})"
      << "\n";
  Write("b-deep", kGood, R"({"workers": )" + deep + "}");
  const StudyInput study = ReadStudy(directory_, TestCatalog());
  ASSERT_EQ(study.runs.size(), 1U);
  EXPECT_TRUE(study.runs[0].environment.is_null());
  ASSERT_EQ(study.runs[0].metrics.evaluations.size(), 1U);
  EXPECT_EQ(study.runs[0].metrics.evaluations[0].step, std::numeric_limits<std::int64_t>::max());
  ASSERT_EQ(study.problems.size(), 1U);
  EXPECT_THAT(study.problems[0].cause, HasSubstr("within each other"));
}

TEST_F(BundleReaderTest, ReadsASingleBundle) {
  Write("one", kGood);
  const StudyInput study = ReadStudy(directory_ / "one", TestCatalog());
  EXPECT_EQ(study.runs.size(), 1U);
  EXPECT_EQ(study.name, "one");
}

TEST_F(BundleReaderTest, RefusesPlacesWithoutResults) {
  EXPECT_THROW(ReadStudy(directory_, TestCatalog()), Error);
  EXPECT_THROW(ReadStudy(directory_ / "nowhere", TestCatalog()), Error);
}

}  // namespace
}  // namespace ringside
