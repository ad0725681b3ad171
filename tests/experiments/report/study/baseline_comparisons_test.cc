#include "ringside/experiments/report/study/baseline_comparisons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/study/study_table.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/ring/collectives/host_sum.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Adds five runs of profile models, each a little faster than the one before.
void Add(StudyInput& study, const std::string& strategy, int workers, double samples_per_s,
         int staleness = 0) {
  for (int i = 0; i < 5; ++i) {
    RunResult run;
    run.spec = RunSpec(TestCatalog());
    run.spec.strategy = strategy;
    run.spec.workers = workers;
    run.spec.servers = strategy.starts_with("ps-") ? 1 : 0;
    run.spec.global_batch = 64;
    run.spec.repetition = i;
    run.spec.options.Set(kStaleness, staleness);
    run.summary = {{"status", "done"}, {"samples_per_s", samples_per_s * (1 + 0.01 * i)}};
    study.runs.push_back(std::move(run));
  }
}

TEST(StudyPairs, PlacesAreInTheOrderOfTheirRates) {
  StudyInput study;
  for (const double rate : {1e10, 3e8, 1e9}) {
    const std::size_t first = study.runs.size();
    Add(study, "ring", 4, 100);
    Add(study, "ps-sync", 4, 50);
    for (std::size_t i = first; i < study.runs.size(); ++i) {
      study.runs[i].spec.link_bits_per_s = rate;
    }
  }
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.pairs.size(), 3U);
  EXPECT_EQ(table.pairs[0].place, "4 workers at 300 Mbit/s (declared)");
  EXPECT_EQ(table.pairs[2].place, "4 workers at 10 Gbit/s (declared)");
}

TEST(StudyPairs, AllAreHeldAgainstTheRingOfTheirPlace) {
  StudyInput study;
  Add(study, "none", 1, 10);
  Add(study, "none", 4, 200);
  Add(study, "halving-doubling", 4, 110);
  Add(study, "ring", 4, 100);
  Add(study, "ps-sync", 4, 50);
  Add(study, "ring", 8, 100);
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.pairs.size(), 3U) << "one worker, and a ring alone, have no pair";
  for (const BaselineComparison& pair : table.pairs) {
    EXPECT_EQ(pair.place, "4 workers");
    EXPECT_EQ(pair.baseline, "ring");
    EXPECT_EQ(pair.certainty, Certainty::kClear);
  }
  EXPECT_EQ(table.pairs[0].compared, "none");
  EXPECT_EQ(table.pairs[1].compared, "halving-doubling");
  EXPECT_NEAR(*table.pairs[1].over_baseline.ratio, 1.1, 1e-9);
  EXPECT_EQ(*table.pairs[1].over_baseline.p_greater, 1);
  EXPECT_EQ(table.pairs[2].compared, "ps-sync with 1 server");
  EXPECT_NEAR(*table.pairs[2].over_baseline.ratio, 0.5, 1e-9);
  EXPECT_FALSE(table.pairs[2].transports_differ) << "both go through the network";
}

TEST(StudyPairs, TheRingIsTheBaselineThoughOthersStandBeforeIt) {
  StudyInput study;
  Add(study, "hierarchical", 4, 120);
  for (RunResult& run : study.runs) run.spec.options.Set(kHostSum, HostSum::kNccl);
  Add(study, "ring", 4, 100);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(table.cells.front().strategy, "hierarchical") << "nccl comes before shm";
  ASSERT_EQ(table.pairs.size(), 1U);
  EXPECT_EQ(table.pairs[0].baseline, "ring");
}

TEST(StudyPairs, WithoutARingTheFirstThatSynchronisesIsTheBaseline) {
  StudyInput study;
  Add(study, "none", 4, 200);
  Add(study, "ps-async", 4, 100);
  Add(study, "ps-sync", 4, 50);
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.pairs.size(), 2U);
  for (const BaselineComparison& pair : table.pairs)
    EXPECT_EQ(pair.baseline, "ps-sync with 1 server");
  StudyInput relaxed;
  Add(relaxed, "ps-async", 4, 100);
  EXPECT_TRUE(MakeStudyTable(relaxed).pairs.empty());
}

TEST(StudyPairs, NameTheOptionsThatTheyDifferIn) {
  StudyInput study;
  Add(study, "ring", 4, 100);
  Add(study, "ps-ssp", 4, 50, 1);
  Add(study, "ps-ssp", 4, 60, 3);
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.pairs.size(), 2U);
  EXPECT_EQ(table.pairs[0].baseline, "ring") << "it has no staleness";
  EXPECT_EQ(table.pairs[0].compared, "ps-ssp with 1 server, staleness 1");
  EXPECT_EQ(table.pairs[1].compared, "ps-ssp with 1 server, staleness 3");
}

TEST(StudyPairs, StandInEveryFormOfTheReportThatHasRoom) {
  StudyInput study;
  Add(study, "ring", 4, 100);
  Add(study, "shm", 4, 50);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_THAT(RenderMarkdown(table, {}),
              AllOf(HasSubstr("| 4 workers | shm \\* | ring | 0.500 | 0.500 to "
                              "0.500 | 0.000 | slower |\n"),
                    HasSubstr("It used another transport than the baseline")));
  EXPECT_EQ(RenderJson(table)["pairs"][0]["over_baseline"]["runs"], 5);
  EXPECT_THAT(RenderHtml(table), HasSubstr("\"over_baseline\":"));
}

}  // namespace
}  // namespace ringside
