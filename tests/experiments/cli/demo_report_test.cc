// The demo's page of a study: a matrix whose runs have a record, then `ringside report`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kLink[] = R"("demo_page":"demo.html")";
constexpr char kNoLink[] = R"("demo_page":null)";

class DemoOfAStudy : public RingsideProcessTest {
 protected:
  /// Runs a ring and a parameter server. The results are in `results/small`.
  void RunMatrix(const std::string& timeline) const {
    std::ofstream(scratch() + "/spec.yaml")
        << "name: small\n"
           "defaults: {model: 'profile:small-tensors', workers: 2, steps: 4, timeline: " +
               timeline +
               "}\n"
               "axes:\n"
               "  strategy: [ring, ps-sync]\n";
    const ProcessResult matrix = RunRingside("matrix spec.yaml");
    ASSERT_EQ(matrix.exit_code, 0) << matrix.err;
  }
  std::string Path(const std::string& name) const { return scratch() + "/" + name; }
  std::string Read(const std::string& name) const {
    std::ifstream in(Path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The page of the demo that a report's page names in its data.
  std::string DemoOf(const std::string& name) const {
    const std::string page = Read(name);
    const std::size_t begin = page.find(R"("demo_page":)");
    return begin == std::string::npos ? "" : page.substr(begin, page.find(',', begin) - begin);
  }
};

TEST_F(DemoOfAStudy, LiesBesideTheReportWhichLinksToIt) {
  RunMatrix("true");
  const ProcessResult report = RunRingside("report results/small --html elsewhere.html");
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const std::string demo = Read("results/small/demo.html");
  for (const char* part : {"ring", "ps-sync", "\"transfers\""}) {
    EXPECT_NE(demo.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(DemoOf("results/small/report.html"), kLink);
  EXPECT_NE(Read("results/small/report.html").find("See two of these runs at work"),
            std::string::npos);
  EXPECT_EQ(json::parse(Read("results/small/report.json"))["demo_page"], "demo.html");
  // A page elsewhere has no demo beside it, so it names none.
  EXPECT_FALSE(fs::exists(Path("demo.html")));
  EXPECT_EQ(DemoOf("elsewhere.html"), kNoLink);
}

TEST_F(DemoOfAStudy, IsNamedByEveryPageBesideIt) {
  RunMatrix("true");
  ASSERT_EQ(RunRingside("report results/small --html results/small/report.html").exit_code, 0);
  EXPECT_EQ(DemoOf("results/small/report.html"), kLink);
}

TEST_F(DemoOfAStudy, IsNotWrittenWhereNothingShallBe) {
  RunMatrix("true");
  ASSERT_EQ(RunRingside("report results/small --no-files --html page.html").exit_code, 0);
  EXPECT_FALSE(fs::exists(Path("results/small/demo.html")));
  EXPECT_EQ(DemoOf("page.html"), kNoLink);
}

TEST_F(DemoOfAStudy, NeedsARecord) {
  RunMatrix("false");
  const ProcessResult report = RunRingside("report results/small");
  ASSERT_EQ(report.exit_code, 0) << report.err;
  EXPECT_FALSE(fs::exists(Path("results/small/demo.html")));
  EXPECT_EQ(DemoOf("results/small/report.html"), kNoLink);
}

TEST_F(DemoOfAStudy, ADamagedRecordLeavesTheReport) {
  RunMatrix("true");
  for (const auto& entry : fs::directory_iterator(Path("results/small"))) {
    if (!fs::exists(entry.path() / "chunks.jsonl")) continue;
    std::ofstream(entry.path() / "chunks.jsonl") << "[]\n";
  }
  const ProcessResult report = RunRingside("report results/small");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_THAT(report.err, HasSubstr("chunks.jsonl:1: "));
  EXPECT_EQ(DemoOf("results/small/report.html"), kNoLink);
}

}  // namespace
}  // namespace ringside
