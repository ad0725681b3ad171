#include "ringside/experiments/report/study/carrier_comparisons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/study/study_table.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Adds five runs of four workers between emulated hosts, each a little faster than the one before.
void Add(StudyInput& study, const std::string& strategy, const std::string& network,
         double samples_per_s, const std::string& transport = "tcp") {
  for (int i = 0; i < 5; ++i) {
    RunResult run;
    run.spec = RunSpec(TestCatalog());
    run.spec.strategy = strategy;
    run.spec.workers = 4;
    run.spec.servers = strategy.starts_with("ps-") ? 2 : 0;
    run.spec.global_batch = 64;
    run.spec.repetition = i;
    SetSpecKey(run.spec, "network", network);
    if (run.spec.servers > 0) SetSpecKey(run.spec, "ps-transport", transport);
    run.directory = strategy + network + transport + std::to_string(i);
    run.summary = {
        {"status", "done"}, {"hosts", 4}, {"samples_per_s", samples_per_s * (1 + 0.01 * i)}};
    study.runs.push_back(std::move(run));
  }
}

TEST(CarrierComparisons, HoldEachStrategyAgainstItselfWithTheDefaults) {
  StudyInput study;
  Add(study, "ps-sync", "1Gbps", 100);
  Add(study, "ps-sync", "1Gbps", 80, "grpc");
  Add(study, "ps-sync", "300Mbps", 40);
  Add(study, "ring", "1Gbps", 90);
  Add(study, "ring", "rate=1Gbps,congestion=bbr", 89.5);
  Add(study, "ring", "rate=2Gbps,congestion=bbr", 100);
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.carriers.size(), 2U) << "another rate is no other carrier";
  EXPECT_EQ(table.carriers[0].change, "over grpc instead of tcp");
  EXPECT_EQ(table.carriers[0].place, "4 workers at 1 Gbit/s");
  EXPECT_EQ(table.carriers[0].strategy, "ps-sync with 2 servers");
  EXPECT_NEAR(*table.carriers[0].over_default.ratio, 0.8, 1e-9);
  EXPECT_EQ(table.carriers[0].certainty, Certainty::kClear);
  EXPECT_EQ(table.carriers[1].change, "under bbr instead of cubic");
  EXPECT_EQ(table.carriers[1].strategy, "ring");
  EXPECT_EQ(table.carriers[1].certainty, Certainty::kEqual);
  EXPECT_THAT(table.verdict.details,
              Contains("Over grpc instead of tcp, the same configurations have 0.800x of the "
                       "samples/s in 1 comparison."));
  EXPECT_THAT(table.verdict.details,
              Contains("Under bbr instead of cubic, the same configurations tie within 2 % in 1 "
                       "comparison."));
  EXPECT_THAT(RenderMarkdown(table, {}),
              HasSubstr("| over grpc instead of tcp | 4 workers at 1 Gbit/s | ps-sync with 2 "
                        "servers | 0.800 | 0.800 to 0.800 | 0.000 | slower |"));
  EXPECT_EQ(RenderJson(table)["carriers"][1]["over_default"]["runs"], 5);
  EXPECT_THAT(RenderHtml(table), HasSubstr("\"over_default\":"));
}

TEST(CarrierComparisons, CountTies) {
  StudyInput study;
  for (const char* rate : {"1Gbps", "2Gbps", "3Gbps"}) {
    Add(study, "ring", rate, 100);
    Add(study, "ring", std::string("rate=") + rate + ",congestion=reno", rate[0] == '1' ? 90 : 101);
  }
  EXPECT_THAT(MakeStudyTable(study).verdict.details,
              Contains("Under reno instead of cubic, the same configurations have 0.900x of the "
                       "samples/s in 1 of 3 comparisons, and tie within 2 % in 2."));
}

TEST(CarrierComparisons, SayTheRangeOfSeveral) {
  StudyInput study;
  for (const char* rate : {"1Gbps", "2Gbps"}) {
    Add(study, "ring", rate, 100);
    Add(study, "ring", std::string("rate=") + rate + ",congestion=reno", rate[0] == '1' ? 90 : 110);
  }
  EXPECT_THAT(MakeStudyTable(study).verdict.details,
              Contains("Under reno instead of cubic, the same configurations have 0.900x to 1.100x "
                       "of the samples/s in both comparisons."));
}

TEST(CarrierComparisons, NeedTheDefaults) {
  StudyInput study;
  Add(study, "ring", "rate=1Gbps,congestion=reno", 100);
  Add(study, "ring", "rate=1Gbps,congestion=bbr", 100);
  Add(study, "ps-sync", "rate=1Gbps,congestion=bbr", 100, "grpc");
  EXPECT_THAT(MakeStudyTable(study).carriers, IsEmpty());
}

}  // namespace
}  // namespace ringside
