#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "tests/experiments/report/study/study_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(StudyFindings, NameTheWinnerWithItsIntervalAndProbability) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 8, 1900);
  AddRuns(runs, "ps-sync", 8, 1000);
  const StudyTable table = TableOf(runs);
  ASSERT_EQ(table.findings.size(), 1U);
  const Finding& finding = table.findings.front();
  EXPECT_EQ(finding.winner, "ring");
  EXPECT_EQ(finding.workers, 8);
  EXPECT_TRUE(finding.ring_over_ps.paired);
  EXPECT_DOUBLE_EQ(*finding.ring_over_ps.p_greater, 1);
  EXPECT_NEAR(finding.ring_over_ps.interval->low, 1.9, 1e-9);
  EXPECT_EQ(finding.sentence,
            "With 8 workers, ring is 1.90x as fast as ps-sync with 1 server (95 % interval 1.90 to "
            "1.90, 5 runs, ahead in 100 % of the pairs)");
  EXPECT_EQ(table.verdict.winner, "ring");
  EXPECT_EQ(table.verdict.certainty, Certainty::kClear);
  EXPECT_EQ(table.verdict.sentence,
            "The best ring is faster than the best parameter server with 8 workers (1.90x). This "
            "is sure: "
            "every 95 % interval leaves out equality.");
}

TEST(StudyFindings, TurnTheRatioWhereServersWin) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 2, 500);
  AddRuns(runs, "ps-sync", 2, 1000);
  const StudyTable table = TableOf(runs);
  EXPECT_EQ(table.findings.front().winner, "parameter server");
  EXPECT_DOUBLE_EQ(*table.findings.front().ring_over_ps.ratio, 0.5);
  EXPECT_THAT(table.findings.front().sentence,
              AllOf(HasSubstr("With 2 workers, ps-sync with 1 server is 2.00x as fast as ring ("),
                    HasSubstr("ahead in 100 %")));
}

TEST(StudyFindings, FewerThanFiveRunsArePointsOnly) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 2000, 3);
  AddRuns(runs, "ps-sync", 4, 1000, 3);
  const StudyTable table = TableOf(runs);
  EXPECT_EQ(table.findings.front().certainty, Certainty::kPointEstimateOnly);
  EXPECT_THAT(table.findings.front().sentence, HasSubstr("points only, no interval: 3 runs"));
  EXPECT_THAT(table.verdict.sentence, HasSubstr("points only"));
  EXPECT_THAT(table.cells.front().intervals, IsEmpty());
}

TEST(StudyFindings, CallUnderTwoPercentWithASingleRunATie) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1015, 1);
  AddRuns(runs, "ps-sync", 4, 1000, 1);
  const StudyTable table = TableOf(runs);
  EXPECT_EQ(table.findings.front().winner, "neither");
  EXPECT_EQ(table.findings.front().sentence,
            "With 4 workers, ring and ps-sync with 1 server tie within 2 %: ratio 1.015 (points "
            "only, no interval: 1 run)");
  EXPECT_EQ(table.verdict.winner, "neither");
  EXPECT_EQ(table.verdict.sentence,
            "The best ring and the best parameter server tie within 2 % with 4 workers. These "
            "are points only: with fewer than five runs there is no interval.");
  EXPECT_EQ(RenderJson(table)["findings"][0]["tie"], true);
  EXPECT_EQ(RenderJson(table)["pairs"][0]["tie"], true);
}

TEST(StudyFindings, CallADifferenceWithinItsUncertaintyATie) {
  std::vector<RunResult> runs;
  const std::vector<double> factors{0.9, 1.1, 0.95, 1.08, 1.0};
  for (int i = 0; i < 5; ++i) {
    const double factor = factors[static_cast<std::size_t>(i)];
    runs.push_back(OneRun("ring", 4, 1000 * factor, i));
    runs.push_back(OneRun("ps-sync", 4, 1000 / factor, i));
  }
  const StudyTable table = TableOf(runs);
  EXPECT_EQ(table.findings.front().certainty, Certainty::kUnclear);
  EXPECT_EQ(table.findings.front().winner, "neither");
  EXPECT_THAT(table.findings.front().sentence,
              HasSubstr(" tie within their uncertainty: ratio 1.000 (95 %"));
  EXPECT_EQ(table.verdict.winner, "neither");
}

TEST(StudyFindings, DependOnTheNumberOfWorkers) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 2, 1000);
  AddRuns(runs, "ps-sync", 2, 1200);
  AddRuns(runs, "ring", 8, 3000);
  AddRuns(runs, "ps-sync", 8, 1500);
  const StudyVerdict verdict = TableOf(runs).verdict;
  EXPECT_EQ(verdict.winner, "depends");
  EXPECT_THAT(
      verdict.sentence,
      AllOf(HasSubstr("It depends. The best ring is faster than the best parameter server with 8 "
                      "workers (2.00x)."),
            HasSubstr("(2.00x). The best parameter server is faster than the best ring with 2 "
                      "workers (1.20x)")));
}

TEST(StudyFindings, TakeTheBestOfEachFamily) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "halving-doubling", 4, 1500);
  AddRuns(runs, "ps-sync", 4, 800);
  const StudyTable table = TableOf(runs);
  ASSERT_EQ(table.findings.size(), 1U);
  EXPECT_EQ(table.cells[table.findings.front().ring_cell].strategy, "halving-doubling");
}

TEST(StudyFindings, JudgeBySynchronousStrategiesAndTellOfRelaxedOnes) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-sync", 4, 800);
  AddRuns(runs, "ps-async", 4, 2000);
  const StudyTable table = TableOf(runs);
  ASSERT_EQ(table.findings.size(), 2U);
  EXPECT_TRUE(table.findings[0].synchronous_only);
  EXPECT_EQ(table.findings[0].winner, "ring");
  EXPECT_EQ(table.findings[1].winner, "parameter server");
  EXPECT_EQ(table.verdict.winner, "ring");
  EXPECT_THAT(table.verdict.caveats,
              Contains(HasSubstr("Dedicated servers are processes besides")));
}

TEST(StudyFindings, CompareWithinAWorkloadAlone) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-sync", 4, 800);
  for (RunResult& run : runs) run.spec.bucket_bytes = run.spec.strategy == "ring" ? 1 << 20 : 4096;
  const StudyTable apart = TableOf(runs);
  EXPECT_THAT(apart.findings, IsEmpty());
  EXPECT_EQ(apart.verdict.winner, "none");
  EXPECT_THAT(apart.verdict.sentence, ::testing::StartsWith("No verdict on servers and rings"));
}

TEST(StudyFindings, AStrategysOwnOptionsDoNotSetItApart) {
  std::vector<RunResult> runs;
  AddRuns(runs, "none", 1, 500);
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-ssp", 4, 800);
  for (RunResult& run : runs) {
    if (run.spec.strategy == "ps-ssp") SetSpecKey(run.spec, "staleness", "7");
  }
  const StudyTable table = TableOf(runs);
  ASSERT_EQ(table.findings.size(), 1U);
  for (const StudyCell& cell : table.cells) EXPECT_EQ(cell.baseline, "none, 1 worker");
}

TEST(StudyFindings, UnpairedRunsAreComparedEachWithEach) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-sync", 4, 800);
  for (RunResult& run : runs) {
    if (run.spec.strategy == "ps-sync") run.spec.seed = 99;
  }
  const Finding finding = TableOf(runs).findings.front();
  EXPECT_FALSE(finding.ring_over_ps.paired);
  EXPECT_THAT(finding.sentence, HasSubstr("of the combinations"));
}

TEST(StudyFindings, ARunWithoutAPartnerEndsThePairs) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000, 7);
  AddRuns(runs, "ps-sync", 4, 800, 6);
  const Finding finding = TableOf(runs).findings.front();
  EXPECT_FALSE(finding.ring_over_ps.paired);
  EXPECT_THAT(finding.sentence, HasSubstr("each side resampled by itself"));
  // The ratio is of all seven runs, not of the six with a partner.
  EXPECT_NEAR(*finding.ring_over_ps.ratio, 1030.0 / 820, 1e-9);
}

TEST(StudyFindings, NamesStayText) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-sync", 4, 800);
  runs.front().summary["notes"] = {"<script>alert(1)</script>"};
  runs.front().directory = "=cmd|' /C calc'!A0";
  const StudyTable table = TableOf(runs);
  const std::string csv = RenderRunsCsv(table);
  EXPECT_THAT(csv, HasSubstr(",'=cmd|' /C calc'!A0,"));
  EXPECT_THAT(csv, Not(HasSubstr(",=cmd")));
  EXPECT_EQ(RenderJson(table)["cells"][0]["results"][0]["notes"][0], "<script>alert(1)</script>");
}

}  // namespace
}  // namespace ringside
