#include "ringside/experiments/report/render/study_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A study with runs of one configuration; run i has step time step_ms[i].
StudyInput Study(const std::string& name, const std::vector<double>& step_ms,
                 const std::string& strategy = "ring") {
  StudyInput input{name, {}, {}};
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    RunResult run;
    run.spec = RunSpec(TestCatalog());
    run.directory = name + std::to_string(i);
    run.spec.strategy = strategy;
    run.spec.workers = 2;
    run.spec.global_batch = 64;
    run.spec.repetition = static_cast<int>(i);
    run.summary = {{"status", "done"},
                   {"step_ms", {{"median", step_ms[i]}}},
                   {"samples_per_s", 64'000 / step_ms[i]}};
    input.runs.push_back(std::move(run));
  }
  return input;
}

StudyComparison Compared(const StudyInput& a, const StudyInput& b, const char* metric = "step_ms",
                         double threshold = 0.05) {
  return CompareStudies(MakeStudyTable(a), MakeStudyTable(b), metric, threshold);
}

const std::vector<double> kSteady{10, 10.1, 9.9, 10.05, 9.95};
const std::vector<double> kSlower{12, 12.1, 11.9, 12.05, 11.95};

TEST(StudyCompare, AStudyIsTheSameAsItself) {
  const StudyComparison comparison = Compared(Study("a", kSteady), Study("b", kSteady));
  ASSERT_EQ(comparison.cells.size(), 1U);
  EXPECT_FALSE(comparison.differ);
  EXPECT_EQ(comparison.cells[0].outcome, "tie");
  EXPECT_DOUBLE_EQ(*comparison.cells[0].b_over_a.ratio, 1);
  EXPECT_DOUBLE_EQ(*comparison.cells[0].b_over_a.p_greater, 0.5);
}

TEST(StudyCompare, SaysWhichWayItWent) {
  const StudyComparison slower = Compared(Study("a", kSteady), Study("b", kSlower));
  EXPECT_TRUE(slower.differ);
  EXPECT_EQ(slower.cells[0].outcome, "worse");
  EXPECT_DOUBLE_EQ(*slower.cells[0].b_over_a.ratio, 1.2);
  EXPECT_FALSE(slower.cells[0].b_over_a.paired);
  EXPECT_EQ(Compared(Study("a", kSlower), Study("b", kSteady)).cells[0].outcome, "better");
  // Fewer samples per second are worse.
  EXPECT_EQ(Compared(Study("a", kSteady), Study("b", kSlower), "samples_per_s").cells[0].outcome,
            "worse");
}

TEST(StudyCompare, WithinTheThresholdTheyAreTheSame) {
  const StudyComparison comparison =
      Compared(Study("a", kSteady), Study("b", kSlower), "step_ms", 0.25);
  EXPECT_FALSE(comparison.differ);
  EXPECT_EQ(comparison.cells[0].outcome, "same") << "the difference is clear, but asked to be let";
}

TEST(StudyCompare, NoiseIsNoDifference) {
  const std::vector<double> noisy{6, 18, 11, 9, 14};
  const StudyComparison comparison = Compared(Study("a", kSteady), Study("b", noisy));
  EXPECT_GT(*comparison.cells[0].b_over_a.ratio, 1.05);
  EXPECT_FALSE(comparison.differ);
  EXPECT_EQ(comparison.cells[0].outcome, "tie");
}

TEST(StudyCompare, WithFewRunsThePointsDecide) {
  const StudyComparison comparison = Compared(Study("a", {10}), Study("b", {12}));
  EXPECT_TRUE(comparison.differ);
  EXPECT_FALSE(comparison.cells[0].b_over_a.interval.has_value());
  EXPECT_THAT(RenderText(comparison), HasSubstr("points only"));
}

TEST(StudyCompare, UnderTwoPercentOfOneRunIsATieAtAnyThreshold) {
  const StudyComparison one = Compared(Study("a", {10}), Study("b", {10.15}), "step_ms", 0.01);
  EXPECT_FALSE(one.differ);
  EXPECT_EQ(one.cells[0].outcome, "tie");
  EXPECT_THAT(RenderText(one), HasSubstr("  tie\n"));
  EXPECT_EQ(RenderJson(one)["cells"][0]["outcome"], "tie");
  // Five runs say more: the caller's threshold decides.
  std::vector<double> slower = kSteady;
  for (double& step_ms : slower) step_ms += 0.3;
  EXPECT_TRUE(Compared(Study("a", kSteady), Study("b", slower), "step_ms", 0.01).differ);
}

TEST(StudyCompare, NamesAConfigurationInWords) {
  StudyInput study = Study("a", {10});
  StudyInput other = Study("b", {10});
  for (StudyInput* input : {&study, &other}) {
    input->runs.push_back(input->runs.front());
    input->runs.back().spec.compute_ms = 30;
  }
  const StudyComparison comparison = Compared(study, other);
  ASSERT_EQ(comparison.cells.size(), 2U);
  EXPECT_EQ(comparison.cells[1].label, "ring, 2 workers, 30 ms of compute");
}

TEST(StudyCompare, NamesWhatOnlyOneHas) {
  StudyInput a = Study("a", {10});
  StudyInput b = Study("b", {10});
  const StudyInput tree = Study("t", {5}, "tree");
  const StudyInput none = Study("n", {5}, "none");
  a.runs.push_back(tree.runs.front());
  b.runs.push_back(none.runs.front());
  const StudyComparison comparison = Compared(a, b);
  EXPECT_EQ(comparison.cells.size(), 1U);
  EXPECT_THAT(comparison.only_in_a, ElementsAre(HasSubstr("tree, 2 workers")));
  EXPECT_THAT(comparison.only_in_b, ElementsAre(HasSubstr("none, 2 workers")));
  EXPECT_FALSE(comparison.differ);
}

TEST(StudyCompare, RefusesStudiesThatShareNothing) {
  EXPECT_THROW(Compared(Study("a", {10}), Study("b", {10}, "tree")), Error);
}

TEST(StudyCompare, ASideWhoseRunsAllFailedDiffers) {
  StudyInput broken = Study("b", kSteady);
  for (RunResult& run : broken.runs) run.summary = {{"status", "failed"}, {"error", "killed"}};
  const StudyComparison lost = Compared(Study("a", kSteady), broken);
  ASSERT_EQ(lost.cells.size(), 1U);
  EXPECT_TRUE(lost.differ);
  EXPECT_EQ(lost.cells[0].outcome, "missing");
  EXPECT_EQ(lost.cells[0].failed_a, 0);
  EXPECT_EQ(lost.cells[0].failed_b, 5);
  EXPECT_THAT(RenderText(lost), HasSubstr("0       0       5  missing\n"));
  EXPECT_EQ(RenderJson(lost)["cells"][0]["failed_b"], 5);
  const StudyComparison found = Compared(broken, Study("a", kSteady));
  EXPECT_TRUE(found.differ);
  EXPECT_EQ(found.cells[0].outcome, "new");
}

void Limit(RunResult& run) {
  run.summary["fidelity"] = {{"verdict", "limited"}, {"limited_by", {"the processor: 4 % idle"}}};
}

TEST(StudyCompare, LeavesOutRunsThatTheMachineLimited) {
  StudyInput slow = Study("b", {10, 10.1, 9.9, 10.05, 9.95, 90, 91, 92, 93, 94, 95});
  for (std::size_t i = 5; i < slow.runs.size(); ++i) Limit(slow.runs[i]);
  const StudyComparison comparison = Compared(Study("a", kSteady), slow);
  EXPECT_FALSE(comparison.differ);
  EXPECT_FALSE(comparison.nothing_compared);
  EXPECT_DOUBLE_EQ(*comparison.cells[0].b_over_a.ratio, 1);
  EXPECT_EQ(comparison.cells[0].limited_b, 6);
  EXPECT_THAT(RenderText(comparison), HasSubstr("limited"));
  EXPECT_THAT(RenderText(Compared(Study("a", kSteady), Study("b", kSteady))),
              ::testing::Not(HasSubstr("limited")));
}

TEST(StudyCompare, ASideThatTheMachineLimitedIsNotCompared) {
  StudyInput slow = Study("b", kSlower);
  for (RunResult& run : slow.runs) Limit(run);
  for (const StudyComparison& comparison :
       {Compared(Study("a", kSteady), slow), Compared(slow, Study("a", kSteady))}) {
    EXPECT_EQ(comparison.cells[0].outcome, "limited");
    EXPECT_FALSE(comparison.differ);
    EXPECT_TRUE(comparison.nothing_compared);
    EXPECT_FALSE(comparison.cells[0].b_over_a.ratio.has_value());
    EXPECT_THAT(RenderText(comparison),
                HasSubstr("1 of 1 configurations is not compared: the machine limited every run"));
  }
  const nlohmann::json json = RenderJson(Compared(Study("a", kSteady), slow));
  EXPECT_EQ(json["cells"][0]["limited_b"], 5);
  EXPECT_EQ(json["cells"][0]["outcome"], "limited");
}

TEST(StudyCompare, WhatGrowsFromZeroDiffers) {
  const auto waits = [](const char* name, double exposed_comm_ms) {
    StudyInput study = Study(name, {10});
    study.runs[0].summary["exposed_comm_ms"] = exposed_comm_ms;
    return study;
  };
  const StudyComparison grown = Compared(waits("a", 0), waits("b", 3), "exposed_comm_ms");
  EXPECT_TRUE(grown.differ);
  EXPECT_EQ(grown.cells[0].outcome, "worse");
  const StudyComparison none = Compared(waits("a", 0), waits("b", 0), "exposed_comm_ms");
  EXPECT_FALSE(none.differ);
  EXPECT_EQ(none.cells[0].outcome, "same");
}

TEST(StudyCompare, AMissingNumberIsUnknown) {
  const StudyComparison comparison = Compared(Study("a", kSteady), Study("b", kSteady), "accuracy");
  EXPECT_EQ(comparison.cells[0].outcome, "unknown");
  EXPECT_FALSE(comparison.differ);
  const nlohmann::json json = RenderJson(comparison);
  EXPECT_EQ(json["schema"], "ringside.compare/1");
  EXPECT_TRUE(json["cells"][0]["a"].is_null());
  EXPECT_THAT(json["only_in_a"], IsEmpty());
}

}  // namespace
}  // namespace ringside
