#include "ringside/experiments/report/cells/bound_explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A ring of four whose communication takes at least 100 ms and overlaps with nothing.
StudyCell Cell(double ratio) {
  StudyCell cell;
  cell.strategy = "ring";
  cell.synchronous = true;
  cell.workers = 4;
  cell.runs = 1;
  cell.step_ms = 100 * ratio;
  cell.bound_ms = 100;
  cell.bound_comm_ms = 100;
  cell.bound_ratio = ratio;
  if (ratio > kAboveBound) cell.bound_flag = "above";
  if (ratio < kBelowBound) cell.bound_flag = "below";
  StudyRun run;
  run.status = "done";
  run.bound_ms = 100;
  cell.results = {run};
  return cell;
}

StudyLink Link(double share) { return {"0", 1e9, 1e8, share * 1e8, 1e8, share > 0.95}; }

TEST(BoundExplanation, NothingIsSaidBetweenTheLimits) {
  EXPECT_THAT(ExplainBound(Cell(1.00)).text, IsEmpty());
  EXPECT_THAT(ExplainBound(Cell(1.15)).text, IsEmpty());
  StudyCell none = Cell(1);
  none.bound_ratio.reset();
  EXPECT_THAT(ExplainBound(none).text, IsEmpty());
  none.bound_missing = "no formula knows";
  EXPECT_EQ(ExplainBound(none).text, "no bound: no formula knows");
}

TEST(BoundExplanation, ARecordThatExplainsNothingIsSaidToExplainNothing) {
  for (const double ratio : {1.5, 0.9}) {
    const BoundExplanation explanation = ExplainBound(Cell(ratio));
    EXPECT_EQ(explanation.text, "not explained by what was recorded");
    EXPECT_FALSE(explanation.explained);
  }
}

TEST(BoundExplanation, NoiseIsAnIntervalThatHoldsTheLimit) {
  StudyCell cell = Cell(1.2);
  cell.intervals["bound_ratio"] = {1.14, 1.3};
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("1.14 to 1.30, contains 1.15"));
  cell.intervals["bound_ratio"] = {1.16, 1.3};
  EXPECT_FALSE(ExplainBound(cell).explained);
  StudyCell below = Cell(0.95);
  below.intervals["bound_ratio"] = {0.9, 1.01};
  EXPECT_THAT(ExplainBound(below).text, HasSubstr("contains 1"));
}

TEST(BoundExplanation, BusyCoresAreOneAndIdleOnesAreNot) {
  StudyCell cell = Cell(1.5);
  cell.results[0].cores = 2;
  cell.results[0].wall_seconds = 10;
  cell.results[0].cpu_seconds_workers = 5;
  cell.cores_busy = 0.9;
  EXPECT_THAT(
      ExplainBound(cell).text,
      HasSubstr("2 cores were 90 % busy (the run's own 4 processes took 25 % of their time)"));
  EXPECT_TRUE(ExplainBound(cell).explained);
  cell.cores_busy = 0.5;
  EXPECT_FALSE(ExplainBound(cell).explained);
}

TEST(BoundExplanation, WhatHasMillisecondsExplainsAsManyAndNoMore) {
  StudyCell cell = Cell(1.5);
  cell.critical_path.emplace();
  cell.critical_path->straggler_wait_ms = 20;
  const BoundExplanation part = ExplainBound(cell);
  EXPECT_FALSE(part.explained);
  EXPECT_EQ(part.text,
            "waiting for the last worker: 20 ms; the rest, 30 ms, is not explained by what was "
            "recorded");
  cell.critical_path->codec_ms = 20;
  EXPECT_TRUE(ExplainBound(cell).explained);
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("encoding and decoding: 20 ms"));
}

TEST(BoundExplanation, LinksCountByWhatTheyCarried) {
  StudyCell cell = Cell(1.2);
  cell.results[0].link_ok = false;
  cell.results[0].links = {Link(1), Link(0.9)};
  EXPECT_THAT(ExplainBound(cell).text, AllOf(HasSubstr("slowest link carried 90.0 %"),
                                             HasSubstr("in 1 of 1 runs"), HasSubstr(": 11.1 ms")));
  EXPECT_TRUE(ExplainBound(cell).explained);
  StudyCell below = Cell(0.97);
  below.results[0].links = {Link(1.04)};
  EXPECT_THAT(ExplainBound(below).text, HasSubstr("carried up to 104.0 %"));
  // With loss, one connection says nothing about the link.
  cell.results[0].link_ok.reset();
  for (StudyLink& link : cell.results[0].links) link.ok.reset();
  EXPECT_FALSE(ExplainBound(cell).explained);
}

TEST(BoundExplanation, ALinkThatIsFasterThanTheBottleneckIsNotBlamed) {
  StudyCell cell = Cell(1.2);
  StudyLink narrow = Link(1);
  narrow.expected_bytes_per_s = *narrow.expected_bytes_per_s / 4;
  narrow.sent_bytes_per_s = narrow.received_bytes_per_s = narrow.expected_bytes_per_s;
  cell.results[0].links = {narrow, Link(0.9), Link(1.05)};
  EXPECT_THAT(ExplainBound(cell).text, Not(HasSubstr("slowest link")));
  narrow.sent_bytes_per_s = *narrow.expected_bytes_per_s * 0.9;
  cell.results[0].links[0] = narrow;
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("slowest link carried 90.0 %"));
}

TEST(BoundExplanation, OneBadLinkOfManyRunsIsNotTheMedians) {
  StudyCell cell = Cell(1.4);
  cell.results.assign(5, cell.results[0]);
  for (StudyRun& run : cell.results) run.links = {Link(1), Link(0.99)};
  cell.results[1].links[0] = Link(0.7);
  EXPECT_THAT(ExplainBound(cell).text, Not(HasSubstr("slowest link")));
  for (StudyRun& run : cell.results) run.links[1] = Link(0.8);
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("slowest link carried 80.0 %"));
}

TEST(BoundExplanation, WhatTheAchievableStepAddsIsNamedPartByPart) {
  StudyCell cell = Cell(1.5);
  cell.results[0].achievable = {
      .step_ms = 140, .compute_ms = 25, .readiness_ms = 0.3, .tail_ms = 14.7};
  EXPECT_EQ(ExplainBound(cell).text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "25 ms, what follows the last bucket 14.7 ms): 40 ms");
  EXPECT_TRUE(ExplainBound(cell).explained);
  cell.results[0].achievable->uneven_ms = 1;
  cell.results[0].achievable->readiness_ms = 2;
  EXPECT_THAT(ExplainBound(cell).text,
              HasSubstr("uneven shares of the servers 1 ms, buckets that are ready late 2 ms"));
}

TEST(BoundExplanation, WhatIsLeftAboveTheAchievableStepNeedsARecord) {
  StudyCell cell = Cell(1.5);
  cell.results[0].achievable = {.step_ms = 110, .compute_ms = 10};
  EXPECT_FALSE(ExplainBound(cell).explained);
  EXPECT_THAT(ExplainBound(cell).text,
              HasSubstr("the rest, 40 ms, is not explained by what was recorded"));
  cell.critical_path.emplace();
  cell.critical_path->codec_ms = 30;
  EXPECT_TRUE(ExplainBound(cell).explained);
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("10 ms): 10 ms; encoding and decoding: 30 ms"));
}

TEST(BoundExplanation, TheAchievableStepExplainsAtMostWhatIsAboveTheBound) {
  StudyCell cell = Cell(1.2);
  cell.results[0].achievable = {.step_ms = 140, .compute_ms = 40};
  EXPECT_EQ(ExplainBound(cell).text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "40 ms): 20 ms; the step is 20 ms shorter than the achievable one");
  EXPECT_TRUE(ExplainBound(cell).explained);
  cell.results[0].achievable = {.step_ms = 121, .compute_ms = 21};
  EXPECT_EQ(ExplainBound(cell).text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "21 ms): 20 ms")
      << "1 % is not worth saying";
}

TEST(BoundExplanation, TheAchievableStepIsAMedianOverRunsEachBesideItsOwnBound) {
  StudyCell cell = Cell(1.5);
  cell.results[0].achievable = {.step_ms = 140, .compute_ms = 40};
  cell.results.assign(3, cell.results[0]);
  cell.results[0].bound_ms = 300;  // it computed longer than the others
  cell.results[0].achievable = {.step_ms = 310, .compute_ms = 10};
  EXPECT_EQ(ExplainBound(cell).text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "40 ms): 40 ms");
}

TEST(BoundExplanation, AStepAboveTheAchievableOneNeedsAnExplanationNearItsBound) {
  StudyCell cell = Cell(1.12);
  cell.achievable_ms = 104;
  cell.achievable_ratio = 112.0 / 104;
  cell.results[0].achievable = {.step_ms = 104, .compute_ms = 4};
  const BoundExplanation explanation = ExplainBound(cell);
  EXPECT_EQ(explanation.text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "4 ms): 4 ms; the rest, 8 ms, is not explained by what was recorded");
  EXPECT_FALSE(explanation.explained);
  cell.critical_path.emplace();
  cell.critical_path->server_queue_ms = 5;
  EXPECT_TRUE(ExplainBound(cell).explained) << "3 ms are less than 5 %";
  cell.critical_path.reset();
  cell.intervals["achievable_ratio"] = {1.04, 1.09};
  EXPECT_THAT(ExplainBound(cell).text,
              HasSubstr("the ratio to the achievable step, 1.04 to 1.09, contains 1.05"));
  cell.achievable_ratio = 1.04;
  EXPECT_THAT(ExplainBound(cell).text, IsEmpty());
}

TEST(BoundExplanation, CausesExplainTogetherNoMoreThanThereIs) {
  StudyCell cell = Cell(1.5);
  cell.results[0].achievable = {.step_ms = 147, .compute_ms = 47};
  cell.results[0].links = {Link(0.9)};
  EXPECT_EQ(ExplainBound(cell).text,
            "the achievable step is longer than the bound (compute that overlaps with nothing "
            "47 ms): 47 ms; the slowest link carried 90.0 % of the requested rate: 3 ms");
}

TEST(BoundExplanation, WorkersSlowedOnPurposeAreNamed) {
  StudyCell cell = Cell(2);
  cell.straggler_ms = 25;
  EXPECT_EQ(ExplainBound(cell).text, "workers slowed on purpose: 100 ms");
}

TEST(BoundExplanation, TheMeanOverWorkersIsLessThanTheSlowestOfEachStep) {
  StudyCell cell = Cell(1.4);
  EXPECT_FALSE(ExplainBound(cell).explained);
  cell.global_batch = 110;
  cell.samples_per_s = 1000;  // 110 ms
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("not always the same; over the mean: 30 ms"));
  EXPECT_TRUE(ExplainBound(cell).explained);
  StudyCell below = Cell(0.8);
  below.global_batch = 110;
  below.samples_per_s = 1000;
  EXPECT_THAT(ExplainBound(below).text, HasSubstr("the mean is 1.10 of the bound"));
}

TEST(BoundExplanation, StartUpOfMessagesIsNamedAndExplainsNothing) {
  StudyCell cell = Cell(1.2);
  cell.buckets = 50;  // 6 messages each: 20 ms are 0.07 ms for each
  EXPECT_THAT(ExplainBound(cell).text, HasSubstr("0.067 ms for each of 300 a step"));
  EXPECT_FALSE(ExplainBound(cell).explained);
  cell.buckets = 10;
  EXPECT_THAT(ExplainBound(cell).text, Not(HasSubstr("messages")));
}

TEST(BoundExplanation, FullQueuesAreNamedWhereTheRestIsNotExplained) {
  StudyCell cell = Cell(1.5);
  RunFidelity& fidelity = cell.results[0].fidelity.emplace();
  fidelity.verdict = FidelityVerdict::kOk;
  fidelity.retransmitted_share = 0.021;
  EXPECT_FALSE(ExplainBound(cell).explained) << "no queue dropped anything";
  fidelity.dropped_packets = 2400;
  const BoundExplanation explanation = ExplainBound(cell);
  EXPECT_THAT(explanation.text,
              ::testing::StartsWith(
                  "congestion: queues of links were full, and 2.1 % of the segments were sent "
                  "again; how long that took is not known; the rest, "));
  EXPECT_FALSE(explanation.explained) << "it may have taken less";
  fidelity.retransmitted_share = 0.004;
  EXPECT_THAT(ExplainBound(cell).text, Not(HasSubstr("congestion")));
}

TEST(BoundExplanation, TheMachineComesFirstWhereItLimitedAllRuns) {
  StudyCell cell = Cell(1.5);
  cell.results.assign(2, cell.results[0]);
  cell.critical_path.emplace();
  cell.critical_path->codec_ms = 20;
  RunFidelity limited;
  limited.verdict = FidelityVerdict::kLimited;
  limited.limited_by = {"the processor: 4 % idle in second 3, at least 35 % needed"};
  cell.results[0].fidelity = limited;
  EXPECT_THAT(ExplainBound(cell).text, Not(HasSubstr("machine")))
      << "the numbers come from the other run";
  limited.limited_by.emplace_back("late wake-ups: 9 ms, at most 5 ms allowed");
  cell.results[1].fidelity = limited;
  const BoundExplanation explanation = ExplainBound(cell);
  EXPECT_THAT(explanation.text,
              ::testing::StartsWith(
                  "limited by the machine: the processor in 2 of 2 runs (one of them: 4 % idle in "
                  "second 3, at least 35 % needed); late wake-ups in 1 of 2 runs (9 ms, at most 5 "
                  "ms allowed); encoding and decoding: 20 ms"));
  EXPECT_TRUE(explanation.explained);
}

TEST(BoundExplanation, ASlowMachineDoesNotMakeAStepFasterThanItsBound) {
  StudyCell cell = Cell(0.9);
  RunFidelity& fidelity = cell.results[0].fidelity.emplace();
  fidelity.verdict = FidelityVerdict::kLimited;
  fidelity.limited_by = {"lost packets: 3 %"};
  EXPECT_EQ(ExplainBound(cell).text,
            "limited by the machine: lost packets: 3 %; not explained by what was recorded");
  EXPECT_FALSE(ExplainBound(cell).explained);
}

TEST(BoundExplanation, StandsInEveryFormOfTheReport) {
  StudyTable table;
  table.name = "s";
  StudyCell cell = Cell(1.3);
  cell.configuration = "{}";
  const BoundExplanation explanation = ExplainBound(cell);
  cell.bound_explanation = explanation.text;
  cell.bound_explained = explanation.explained;
  table.cells = {cell};
  constexpr char kWhy[] = "not explained by what was recorded";
  EXPECT_THAT(RenderText(table), HasSubstr(std::string("1.30 !\n    ! ") + kWhy + "\n"));
  EXPECT_THAT(RenderMarkdown(table, {}),
              AllOf(HasSubstr("why not at its bound |"), HasSubstr(std::string("| ") + kWhy)));
  EXPECT_THAT(RenderHtml(table), HasSubstr(kWhy));
  EXPECT_THAT(RenderCsv(table), HasSubstr(std::string(",above,false,") + kWhy));
  EXPECT_EQ(RenderJson(table)["cells"][0]["bound_explanation"], kWhy);
  table.cells = {Cell(1.1)};
  table.cells[0].configuration = "{}";
  EXPECT_THAT(RenderMarkdown(table, {}), Not(HasSubstr("why not")));
}

}  // namespace
}  // namespace ringside
