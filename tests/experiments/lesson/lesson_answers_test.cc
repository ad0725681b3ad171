#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/grade.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

using nlohmann::json;

/// What real quick runs of a lesson gave, by the names of the runs.
LessonResults Recorded(int number) {
  static const json all = json::parse(std::ifstream(RINGSIDE_RECORDED_RUNS));
  LessonResults results;
  for (const auto& [name, result] : all.at(std::to_string(number)).items()) results[name] = result;
  return results;
}

const Lesson& LessonOf(int number) {
  static const std::vector<Lesson> lessons = Lessons();
  return lessons.at(static_cast<std::size_t>(number - 1));
}

Answer AnswerTo(int number, const LessonResults& results, bool emulated = true) {
  return LessonOf(number).answer({"d", true, emulated}, results);
}

TEST(LimitText, IsTheReasonWhyARunCannotJudge) {
  EXPECT_EQ(LimitText({{"fidelity", nullptr}}), "") << "no emulated network";
  EXPECT_EQ(LimitText({{"fidelity", {{"verdict", "ok"}}}}), "");
  EXPECT_EQ(LimitText({{"fidelity", {{"verdict", "limited"}, {"limited_by", {"a", "b"}}}}}),
            "a; b");
  EXPECT_EQ(LimitText({{"fidelity", {{"verdict", nullptr}, {"not_judged", "too short"}}}}),
            "not judged: too short");
}

/// The recorded results with one number of one run changed.
LessonResults With(int number, const std::string& run, const std::string& path, const json& value) {
  LessonResults results = Recorded(number);
  results.at(run)[json::json_pointer("/" + path)] = value;
  return results;
}

bool AllHold(const Answer& answer) {
  return std::ranges::all_of(answer.checks, [](const LessonCheck& check) { return check.held; });
}

TEST(LessonAnswers, TheoryIsRightForTheRecordedRuns) {
  const std::vector<double> theory{2, 1.75, 3, 3, 315, 1.75, 3, 0, 3.64, 5};
  for (int number = 1; number <= 10; ++number) {
    SCOPED_TRACE(number);
    const Answer answer = AnswerTo(number, Recorded(number));
    EXPECT_TRUE(IsWithin(LessonOf(number), answer, theory.at(static_cast<std::size_t>(number - 1))))
        << answer.value;
    EXPECT_TRUE(AllHold(answer));
    EXPECT_FALSE(answer.figures.empty());
    EXPECT_TRUE(answer.bound.has_value());
  }
}

TEST(LessonAnswers, UsualMistakesAreNotRight) {
  const std::vector<std::pair<int, double>> mistakes{
      {1, 1},    {2, 7}, {2, 1}, {3, 4},  {3, 1}, {4, 0.75}, {5, 240}, {6, 2},
      {6, 1.33}, {7, 1}, {7, 4}, {8, 10}, {9, 1}, {9, 4},    {10, 0}};
  for (const auto& [number, prediction] : mistakes) {
    EXPECT_FALSE(IsWithin(LessonOf(number), AnswerTo(number, Recorded(number)), prediction))
        << "lesson " << number << ", " << prediction;
  }
}

TEST(LessonAnswers, IntervalsContainTheAnswer) {
  for (int number = 1; number <= 10; ++number) {
    const Answer answer = AnswerTo(number, Recorded(number));
    if (number == 2 || number == 8) {
      EXPECT_FALSE(answer.interval.has_value()) << number;
      EXPECT_EQ(answer.why_no_interval, number == 2 ? "it is an exact count" : "there is one seed");
      continue;
    }
    ASSERT_TRUE(answer.interval.has_value()) << number;
    EXPECT_LE(answer.interval->low, answer.value) << number;
    EXPECT_GE(answer.interval->high, answer.value) << number;
    EXPECT_FALSE(answer.interval->of.empty()) << number;
  }
}

TEST(LessonAnswers, ARunWithoutAFigureIsADataError) {
  for (int number = 1; number <= 10; ++number) {
    EXPECT_THROW(AnswerTo(number, {}), DataError) << number;
  }
  EXPECT_THROW(AnswerTo(1, With(1, "workers-2", "step_ms/p10", nullptr)), DataError);
}

TEST(LessonAnswers, OneServerIsTheRatioOfTheSteps) {
  LessonResults results = With(1, "workers-2", "step_ms/p10", 100);
  results.at("workers-4")["step_ms"]["p10"] = 190;
  EXPECT_DOUBLE_EQ(AnswerTo(1, results).value, 1.9);
  EXPECT_DOUBLE_EQ(AnswerTo(1, results, false).value, 2) << "bytes, on loopback";
}

TEST(LessonAnswers, TooManyBytesOfARingAreSeen) {
  const json bytes = Recorded(2).at("workers-4").at("bytes_sent_per_worker_per_step");
  EXPECT_FALSE(AllHold(AnswerTo(
      2, With(2, "workers-4", "bytes_sent_per_worker_per_step", 1.03 * bytes.get<double>()))));
}

TEST(LessonAnswers, TheFewestServersThatBeatTheRing) {
  EXPECT_EQ(AnswerTo(3, With(3, "servers-2", "step_ms/p10", 1)).value, 2);
  LessonResults slow = With(3, "ring", "step_ms/p10", 1);
  EXPECT_THROW(AnswerTo(3, slow), Error);
  EXPECT_EQ(AnswerTo(3, slow, false).value, 3) << "bytes, on loopback";
}

TEST(LessonAnswers, ServersThatBeatOnlySomeStepsOfTheRingWidenTheInterval) {
  LessonResults results = Recorded(3);
  for (auto& [run, result] : results) result["step_ms"] = {{"p10", 500}, {"p90", 510}};
  results.at("servers-2")["step_ms"] = {{"p10", 498}, {"p90", 515}};
  results.at("servers-3")["step_ms"] = {{"p10", 400}, {"p90", 410}};
  const Answer narrow = AnswerTo(3, results);
  EXPECT_EQ(narrow.value, 3);
  EXPECT_EQ(narrow.interval->low, 2);
  EXPECT_EQ(narrow.interval->high, 3);
  results.at("servers-3")["step_ms"]["p90"] = 501;
  const Answer open = AnswerTo(3, results);
  EXPECT_EQ(open.interval->high, 3);
  EXPECT_THAT(open.interval->of, ::testing::HasSubstr("open"));
  EXPECT_FALSE(AnswerTo(3, results, false).interval.has_value()) << "bytes are an exact count";
}

TEST(LessonAnswers, StalenessHasTheIntervalOfItsMean) {
  const Answer answer =
      AnswerTo(7, With(7, "async", "staleness/histogram", {{"2", 50}, {"4", 50}}));
  EXPECT_NEAR(answer.interval->low, 3 - 1.96 * 0.1005, 1e-4);
  EXPECT_NEAR(answer.interval->high, 3 + 1.96 * 0.1005, 1e-4);
  const Answer skewed =
      AnswerTo(7, With(7, "async", "staleness/histogram", {{"2", 10}, {"3", 190}}));
  EXPECT_LT(skewed.interval->low, 2.95);
  EXPECT_GT(skewed.interval->high, 2.95);
  EXPECT_THROW(AnswerTo(7, With(7, "async", "staleness/histogram", json::object())), DataError);
}

TEST(LessonAnswers, ThroughputCountsEveryWorkerAtItsOwnPace) {
  LessonResults results = Recorded(6);
  for (const char* run : {"sync", "async"}) {
    const double slow = 300;
    const double fast = std::string(run) == "sync" ? 300 : 150;
    results.at(run)["rank_step_ms"] = {{slow}, {fast}, {fast}, {fast}};
  }
  EXPECT_DOUBLE_EQ(AnswerTo(6, results).value, 1.75);
}

TEST(LessonAnswers, StalenessBeyondTheBoundIsSeen) {
  EXPECT_TRUE(AllHold(AnswerTo(7, With(7, "bounded-slow-worker", "staleness/max", 9))));
  EXPECT_FALSE(AllHold(AnswerTo(7, With(7, "bounded-slow-worker", "staleness/max", 10))));
}

TEST(LessonAnswers, ASlopeOffTheBoundIsSeen) {
  LessonResults results = Recorded(1);
  const double bound = results.at("workers-4")["bound_ms"].get<double>() -
                       results.at("workers-2")["bound_ms"].get<double>();
  results.at("workers-2")["step_ms"]["p10"] = 500;
  results.at("workers-4")["step_ms"]["p10"] = 500 + 1.1 * bound;
  EXPECT_TRUE(AllHold(AnswerTo(1, results)));
  results.at("workers-4")["step_ms"]["p10"] = 500 + 1.2 * bound;
  EXPECT_FALSE(AllHold(AnswerTo(1, results)));
}

TEST(LessonAnswers, SizesThatDoNotCrossAreSeen) {
  LessonResults results = Recorded(4);
  json& rows = results.at("bench")["rows"];
  for (const json& row : json(rows)) {
    json large = row;
    large["size"] = 4 << 20;
    const double round = row["strategy"] == "ring" ? 2 : 1;
    large["round_us"] = json::array({round, round, round});
    rows.push_back(large);
  }
  EXPECT_FALSE(AllHold(AnswerTo(4, results)));
  for (json& row : rows) {
    if (row["size"] == 4 << 20 && row["strategy"] == "ring") row["round_us"] = {0.5, 0.5, 0.5};
  }
  EXPECT_TRUE(AllHold(AnswerTo(4, results)));
}

TEST(LessonAnswers, ATieWithTheRingIsNoVictory) {
  LessonResults results = Recorded(3);
  for (auto& [run, result] : results) result["step_ms"] = {{"p10", 500}, {"p90", 500}};
  results.at("servers-2")["step_ms"]["p10"] = 495;
  results.at("servers-3")["step_ms"]["p10"] = 485;
  EXPECT_EQ(AnswerTo(3, results).value, 3);
}

TEST(LessonAnswers, ADivergedRunIsAsGoodAsAGuess) {
  LessonResults results = With(8, "ps-async-rate-0.1-seed-1", "status", "diverged");
  results.at("ps-async-rate-0.1-seed-1")["eval_accuracy"] = nullptr;
  results.at("ps-sync-rate-0.1-seed-1")["eval_accuracy"] = 0.98;
  EXPECT_NEAR(AnswerTo(8, results).value, 88, 1e-9);
}

TEST(LessonAnswers, WhatIsLostAfterAFreezeIsSeen) {
  EXPECT_FALSE(AllHold(AnswerTo(10, With(10, "frozen", "failure/member", "worker 1"))));
  EXPECT_FALSE(AllHold(AnswerTo(10, With(10, "frozen", "lesson_exit_code", 3))));
  EXPECT_FALSE(AllHold(AnswerTo(10, With(10, "check", "checkpoints/0/ok", false))));
  EXPECT_FALSE(AllHold(AnswerTo(10, With(10, "check", "checkpoints", json::array()))));
  EXPECT_FALSE(AllHold(AnswerTo(10, With(10, "resumed", "steps", 100))));
  LessonResults full = Recorded(10);
  full["never-frozen"] = full.at("resumed");
  EXPECT_TRUE(AllHold(AnswerTo(10, full)));
  full["never-frozen"]["params_sha256"] = "another";
  EXPECT_FALSE(AllHold(AnswerTo(10, full)));
}

}  // namespace
}  // namespace ringside
