// Tests a study's data besides step times: intervals, costs, curves, links, environments, scaling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/study/study_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunResult OneRun(const std::string& strategy, int workers, double step_ms, int repetition = 0) {
  RunResult run;
  run.spec = RunSpec(TestCatalog());
  run.directory = strategy + std::to_string(workers) + "-" + std::to_string(repetition);
  run.spec.strategy = strategy;
  run.spec.workers = workers;
  run.spec.servers = strategy.starts_with("ps-") ? 1 : 0;
  run.spec.global_batch = 100;
  run.spec.repetition = repetition;
  run.summary = {{"status", "done"},
                 {"step_ms", {{"median", step_ms}}},
                 {"samples_per_s", 100'000 / step_ms},
                 {"steps", 50},
                 {"first_step", 0},
                 {"dedicated_servers", run.spec.servers},
                 {"colocated", false},
                 {"bytes_sent_per_worker", 3000},
                 {"bytes_received_per_worker", 2000},
                 {"cpu_seconds", {{"workers", 8.0}, {"servers", 2.0}}}};
  return run;
}

StudyTable TableOf(std::vector<RunResult> runs, const StudyOptions& options = {}) {
  return MakeStudyTable({"s", std::move(runs), {}}, options);
}

CurvePoint Evaluation(std::int64_t step, double seconds, double accuracy) {
  CurvePoint point;
  point.step = step;
  point.epoch = static_cast<double>(step) / 10;
  point.train_seconds = seconds;
  point.accuracy = accuracy;
  return point;
}

TEST(StudyData, FiveRunsHaveIntervalsAndAnOutlierStays) {
  std::vector<RunResult> runs;
  for (const double step_ms : {10.0, 10.2, 9.8, 10.1, 30.0}) {
    runs.push_back(OneRun("ring", 2, step_ms, static_cast<int>(runs.size())));
  }
  const StudyTable table = TableOf(runs);
  const StudyCell& cell = table.cells.front();
  ASSERT_EQ(cell.results.size(), 5U);
  EXPECT_DOUBLE_EQ(*cell.step_ms, 10.1);
  EXPECT_DOUBLE_EQ(cell.intervals.at("step_ms").low, 9.8);
  EXPECT_DOUBLE_EQ(cell.intervals.at("step_ms").high, 30);
  EXPECT_TRUE(cell.results[4].outlier);
  EXPECT_FALSE(cell.results[3].outlier);
  const std::string text = RenderText(table);
  EXPECT_THAT(text, HasSubstr("9.80..30.00"));
  EXPECT_THAT(text, HasSubstr("5 (1 out)"));
  EXPECT_THAT(text, HasSubstr("10000 resamples; none with fewer than 5 runs"));
  EXPECT_THAT(text, HasSubstr("1 run is marked as an outlier"));
  EXPECT_EQ(RenderJson(table)["cells"][0]["intervals"]["step_ms"]["high"], 30);
}

TEST(StudyData, DedicatedServersAreCharged) {
  const StudyTable table = TableOf({OneRun("ring", 2, 10), OneRun("ps-sync", 2, 10)});
  for (const StudyCell& cell : table.cells) {
    const double bytes = 2 * 5000 / 5000.0;  // two workers, both ways, over 50 steps of 100
    EXPECT_DOUBLE_EQ(*cell.core_seconds_per_sample, 10.0 / 5000);
    if (cell.strategy == "ring") {
      EXPECT_DOUBLE_EQ(*cell.nic_bytes_per_sample, bytes);
      EXPECT_DOUBLE_EQ(*cell.nic_bytes_per_sample_servers, 0);
    } else {
      EXPECT_DOUBLE_EQ(*cell.nic_bytes_per_sample, 2 * bytes);
      EXPECT_DOUBLE_EQ(*cell.nic_bytes_per_sample_servers, bytes);
    }
  }
}

TEST(StudyData, ColocatedServersHaveNoNicOfTheirOwn) {
  RunResult run = OneRun("ps-sync", 2, 10);
  run.spec.colocated = true;
  run.summary["colocated"] = true;
  run.summary["dedicated_servers"] = 0;
  EXPECT_DOUBLE_EQ(*TableOf({run}).cells[0].nic_bytes_per_sample, 2);
}

TEST(StudyData, TimeToTargetIsOfTheFirstEvaluationThatGotThere) {
  RunResult run = OneRun("ring", 2, 10);
  run.summary["eval_accuracy"] = 0.9;
  run.metrics.evaluations = {Evaluation(10, 1, 0.5), Evaluation(20, 2, 0.87),
                             Evaluation(30, 3, 0.9)};
  const StudyTable chosen = TableOf({run});
  EXPECT_DOUBLE_EQ(*chosen.target.accuracy, 0.95 * 0.9);
  EXPECT_THAT(chosen.target.origin, HasSubstr("95 % of the best final accuracy of a synchronous"));
  EXPECT_DOUBLE_EQ(*chosen.cells[0].seconds_to_target, 2);
  EXPECT_DOUBLE_EQ(*chosen.cells[0].epochs_to_target, 2);
  EXPECT_DOUBLE_EQ(*chosen.cells[0].samples_to_target, 2000);
  const StudyTable asked = TableOf({run}, {0.99});
  EXPECT_EQ(asked.target.origin, "asked for");
  EXPECT_FALSE(asked.cells[0].seconds_to_target.has_value());
  EXPECT_EQ(asked.cells[0].reached_target, 0);
}

TEST(StudyData, RunsThatNeverGotThereAreInfinitelySlow) {
  std::vector<RunResult> runs;
  for (int i = 0; i < 3; ++i) {
    runs.push_back(OneRun("ring", 2, 10, i));
    runs.back().metrics.evaluations = {Evaluation(10, 1 + i, i == 0 ? 0.5 : 0.9)};
  }
  EXPECT_DOUBLE_EQ(*TableOf(runs, {0.8}).cells[0].seconds_to_target, 3);
  runs[1].metrics.evaluations = {Evaluation(10, 2, 0.5)};
  EXPECT_FALSE(TableOf(runs, {0.8}).cells[0].seconds_to_target.has_value());
  EXPECT_EQ(TableOf(runs, {0.8}).cells[0].reached_target, 1);
}

TEST(StudyData, TheTargetComesFromSynchronousStrategies) {
  RunResult strict = OneRun("ring", 2, 10);
  RunResult relaxed = OneRun("ps-async", 2, 10);
  strict.summary["eval_accuracy"] = 0.8;
  relaxed.summary["eval_accuracy"] = 0.9;
  EXPECT_DOUBLE_EQ(*TableOf({strict, relaxed}).target.accuracy, 0.95 * 0.8);
  EXPECT_DOUBLE_EQ(*TableOf({relaxed}).target.accuracy, 0.95 * 0.9);
  EXPECT_FALSE(TableOf({OneRun("ring", 2, 10)}).target.accuracy.has_value());
}

TEST(StudyData, LongCurvesAreThinnedAndKeepTheirEnds) {
  RunResult run = OneRun("ring", 2, 10);
  for (int i = 0; i < 5000; ++i) run.metrics.evaluations.push_back(Evaluation(i, i, 0.5));
  const std::vector<CurvePoint> curve = TableOf({run}).cells[0].results[0].curve;
  ASSERT_EQ(curve.size(), kMaxCurvePoints);
  EXPECT_EQ(curve.front().step, 0);
  EXPECT_EQ(curve.back().step, 4999);
}

TEST(StudyData, TellsOfLinksThatWereNotAsAsked) {
  RunResult run = OneRun("ring", 2, 10);
  run.network = json::parse(R"({"ok": false, "links": [{"host": 0, "rate_bits_per_s": 1e9,
      "expected_bytes_per_s": 1.2e8, "sent_bytes_per_s": 6e7, "ok": false}, {"uplink": 1, "ok": true}]})");
  const StudyTable table = TableOf({run});
  const StudyRun& read = table.cells[0].results[0];
  EXPECT_EQ(read.link_ok, false);
  ASSERT_EQ(read.links.size(), 2U);
  EXPECT_EQ(read.links[0].host, "0");
  EXPECT_EQ(read.links[1].host, "uplink 1");
  EXPECT_FALSE(read.links[0].received_bytes_per_s.has_value());
  EXPECT_THAT(table.method.warnings, Contains(HasSubstr("link that was not as asked")));
}

TEST(StudyData, TellsOfRunsThatWarmedUpLonger) {
  RunResult run = OneRun("ring", 2, 10);
  run.metrics.step_ms.assign(60, 10);
  std::fill_n(run.metrics.step_ms.begin(), 15, 40);
  const StudyTable table = TableOf({run});
  EXPECT_EQ(table.cells[0].results[0].warmup_detected, 15);
  EXPECT_TRUE(table.cells[0].results[0].warmup_short);
  EXPECT_THAT(table.method.warnings, Contains(HasSubstr("still warmed up")));
}

TEST(StudyData, CountsTheStepsThatTimesStandOn) {
  RunResult run = OneRun("ring", 2, 10);
  run.spec.warmup_steps = 1;
  run.summary["counted_steps"] = 3;  // the last of them is not timed
  run.summary["critical_path"] = {{"source", "step records"}, {"steps", 2}, {"compute_ms", 10}};
  const StudyTable table = TableOf({run});
  EXPECT_EQ(table.cells[0].results[0].timed_steps, 2);
  EXPECT_TRUE(table.cells[0].results[0].critical_path);
  EXPECT_THAT(table.method.warnings, Contains(HasSubstr("come from one or two steps only")));
  run.summary["critical_path"]["steps"] = 3;  // of other steps than the step times
  EXPECT_FALSE(TableOf({run}).cells[0].results[0].critical_path);
  run.summary["critical_path"]["source"] = "timeline";  // a timeline may show few steps
  EXPECT_TRUE(TableOf({run}).cells[0].results[0].critical_path);
}

TEST(StudyData, AWarmupThatChangesNothingIsNotWorthAWord) {
  RunResult run = OneRun("ring", 2, 10);
  for (int i = 0; i < 60; ++i) run.metrics.step_ms.push_back(i < 15 ? 10.02 : 10);
  const StudyTable table = TableOf({run});
  EXPECT_EQ(table.cells[0].results[0].warmup_detected, 15);
  EXPECT_FALSE(table.cells[0].results[0].warmup_short);
  EXPECT_THAT(table.method.warnings, IsEmpty());
}

TEST(StudyData, ReportsDifferentEnvironments) {
  RunResult one = OneRun("ring", 2, 10), other = OneRun("ring", 2, 10, 1);
  one.environment = {{"cores", 2}, {"libraries", {{"gloo", "1"}}}};
  other.environment = one.environment;
  EXPECT_THAT(TableOf({one, other}).environment_differences, IsEmpty());
  other.environment["libraries"]["gloo"] = "2";
  const StudyTable table = TableOf({one, other});
  EXPECT_EQ(table.environments.size(), 2U);
  EXPECT_THAT(table.environment_differences, ElementsAre("libraries.gloo"));
}

TEST(StudyData, FlagsWhatIsFarFromItsBound) {
  RunResult far = OneRun("ring", 2, 12), under = OneRun("tree", 2, 9), good = OneRun("none", 2, 10);
  far.summary["bound_ratio"] = 1.2;
  under.summary["bound_ratio"] = 0.9;
  good.summary["bound_ratio"] = 1.15;
  const StudyTable table = TableOf({far, under, good});
  for (const StudyCell& cell : table.cells) {
    EXPECT_EQ(cell.bound_flag, cell.strategy == "ring"   ? "above"
                               : cell.strategy == "tree" ? "below"
                                                         : "");
  }
  EXPECT_THAT(RenderText(table), HasSubstr("1.20 !"));
}

TEST(StudyData, FitsHowStepTimesScale) {
  const StudyTable table = TableOf({OneRun("none", 1, 10), OneRun("ps-sync", 1, 12),
                                    OneRun("ps-sync", 2, 14), OneRun("ps-sync", 4, 18)});
  ASSERT_EQ(table.scaling.size(), 1U);
  EXPECT_EQ(table.scaling[0].label, "ps-sync, 1 server");
  EXPECT_DOUBLE_EQ(*table.scaling[0].step_ms_slope, 2);
  EXPECT_DOUBLE_EQ(*table.scaling[0].step_ms_intercept, 10);
  EXPECT_EQ(table.cells.back().scaling, "strong");
  EXPECT_TRUE(table.cells.back().serial_fraction.has_value());
}

TEST(StudyData, TakesCriticalPathAndStalenessFromSummaries) {
  RunResult run = OneRun("ps-async", 2, 10), again = OneRun("ps-async", 2, 10, 1);
  run.summary["critical_path"] = {{"compute_ms", 4.0}, {"server_queue_ms", 1.0}};
  run.summary["staleness"] = {{"histogram", {{"0", 3}, {"1", 7}}}, {"mean", 0.7}};
  again.summary["staleness"] = {{"histogram", {{"1", 2}, {"x", 1}}}, {"mean", 1}};
  const StudyCell cell = TableOf({run, again}).cells[0];
  EXPECT_EQ(cell.critical_path->compute_ms, 4);
  EXPECT_EQ(cell.critical_path->server_queue_ms, 1);
  EXPECT_THAT(cell.staleness, ElementsAre(std::pair(0, 3), std::pair(1, 9)));
}

TEST(StudyData, APartOfTheCriticalPathThatIsNotKnownStaysNull) {
  RunResult run = OneRun("ps-async", 2, 10), again = OneRun("ps-async", 2, 10, 1);
  run.summary["critical_path"] = {
      {"compute_ms", 4.0}, {"data_ms", 2.0}, {"codec_ms", 1.5}, {"server_queue_ms", nullptr}};
  again.summary["critical_path"] = {{"compute_ms", 6.0}, {"data_ms", 3.0}, {"codec_ms", nullptr}};
  const StudyTable table = TableOf({run, again});
  const StudyCell& cell = table.cells[0];
  EXPECT_EQ(cell.critical_path->compute_ms, 5);
  EXPECT_EQ(cell.critical_path->data_ms, 2.5);
  EXPECT_EQ(cell.critical_path->codec_ms, 1.5);
  EXPECT_FALSE(cell.critical_path->server_queue_ms.has_value());
  EXPECT_FALSE(cell.results[1].critical_path->codec_ms.has_value());
  const json path = RenderJson(table)["cells"][0]["critical_path"];
  EXPECT_EQ(path["data_ms"], 2.5);
  EXPECT_TRUE(path["server_queue_ms"].is_null());
}

TEST(StudyData, ACriticalPathOfNullsIsNone) {
  RunResult run = OneRun("ring", 2, 10);
  run.summary["critical_path"] = {{"compute_ms", nullptr}, {"other_ms", nullptr}};
  const StudyTable table = TableOf({run});
  EXPECT_FALSE(table.cells[0].results[0].critical_path.has_value());
  EXPECT_FALSE(table.cells[0].critical_path.has_value());
  EXPECT_TRUE(RenderJson(table)["cells"][0]["critical_path"].is_null());
}

TEST(StudyData, RunsCsvHasALinePerRunFailedOnesToo) {
  RunResult failed = OneRun("ring", 2, 10, 1);
  failed.summary = {{"status", "failed"}, {"error", "worker 1, \"killed\""}};
  failed.directory = "a b";
  const std::string csv = RenderRunsCsv(TableOf({OneRun("ring", 2, 10), failed}));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
  EXPECT_THAT(csv, HasSubstr(",failed,\"worker 1, \"\"killed\"\"\",false,"));
  EXPECT_THAT(csv, HasSubstr("ringside train --from 'a b'\r\n"));
}

}  // namespace
}  // namespace ringside
