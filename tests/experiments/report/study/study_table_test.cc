#include "ringside/experiments/report/study/study_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/network/network_spec.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// A run with a made-up summary.
RunResult Result(const std::string& strategy, int workers, double samples_per_s,
                 double step_ms = 10, int repetition = 0) {
  RunResult result;
  result.spec = RunSpec(TestCatalog());
  result.directory = strategy + std::to_string(workers) + "-" + std::to_string(repetition);
  result.spec.strategy = strategy;
  result.spec.workers = workers;
  result.spec.servers = strategy.starts_with("ps-") ? 1 : 0;
  result.spec.global_batch = 64;
  result.spec.repetition = repetition;
  result.summary = {{"schema", "ringside.summary/1"},
                    {"status", "done"},
                    {"error", nullptr},
                    {"step_ms", {{"median", step_ms}}},
                    {"exposed_comm_ms", 2.5},
                    {"samples_per_s", samples_per_s},
                    {"bytes_sent_per_worker_per_step", 4100},
                    {"bound_bytes_sent_per_worker_per_step", 4000},
                    {"bound_ms", nullptr},
                    {"bound_ratio", nullptr},
                    {"staleness", {{"mean", 1.5}}},
                    {"final_loss", 0.25},
                    {"eval_accuracy", 0.97}};
  return result;
}

const StudyCell& CellOf(const StudyTable& table, const std::string& strategy, int workers) {
  for (const StudyCell& cell : table.cells) {
    if (cell.strategy == strategy && cell.workers == workers) return cell;
  }
  throw std::runtime_error("no such cell");
}

TEST(StudyTable, SpeedupIsOverTheBestSingleWorker) {
  const StudyTable table = MakeStudyTable(
      {"s", {Result("none", 1, 1000), Result("ring", 1, 800), Result("ring", 4, 2000)}, {}});
  const StudyCell& four = CellOf(table, "ring", 4);
  EXPECT_EQ(four.baseline, "none, 1 worker");
  EXPECT_DOUBLE_EQ(*four.speedup, 2);
  EXPECT_DOUBLE_EQ(*four.efficiency, 0.5);
  EXPECT_DOUBLE_EQ(*CellOf(table, "ring", 1).speedup, 0.8);
}

TEST(StudyTable, AchievableStandsBesideTheBoundWithItsParts) {
  RunResult result = Result("ring", 4, 1000);
  result.summary["bound_ms"] = 4;
  result.summary["bound_ratio"] = 2.5;
  result.summary["achievable_ms"] = 8;
  result.summary["achievable_ratio"] = 1.25;
  result.summary["achievable"] = {{"step_ms", 8},   {"compute_ms", 1.5},   {"phases_ms", 0.5},
                                  {"uneven_ms", 1}, {"readiness_ms", 0.5}, {"tail_ms", 0.5}};
  const StudyTable table = MakeStudyTable({"s", {result, Result("ring", 2, 1000)}, {}});
  EXPECT_EQ(CellOf(table, "ring", 4).achievable_ms, 8);
  EXPECT_EQ(CellOf(table, "ring", 4).achievable_ratio, 1.25);
  EXPECT_FALSE(CellOf(table, "ring", 2).results[0].achievable);
  const json cell = RenderJson(table)["cells"][1];
  EXPECT_EQ(cell["achievable_ratio"], 1.25);
  EXPECT_EQ(cell["results"][0]["achievable"], result.summary["achievable"]);
  EXPECT_THAT(RenderText(table), HasSubstr("achievable"));
  EXPECT_THAT(RenderText(table), HasSubstr("2.50 !        1.25"));
  EXPECT_THAT(RenderMarkdown(table, {}), HasSubstr("| 2.50 | 1.25 |"));
  EXPECT_THAT(RenderCsv(table), HasSubstr(",achievable_ms,"));
  EXPECT_THAT(RenderRunsCsv(table), HasSubstr(",achievable_ms,achievable_ratio,"));
}

TEST(StudyTable, MarksRowsOverDifferentTransports) {
  RunResult tcp = Result("ps-sync", 2, 1000), shm = Result("ps-sync", 2, 4000, 2.5);
  shm.spec.options.Set(kPsTransport, "shm");
  const StudyTable alike = MakeStudyTable({"s", {tcp, Result("ring", 2, 900)}, {}});
  EXPECT_FALSE(MixesTransports(alike));
  EXPECT_THAT(RenderText(alike), ::testing::AllOf(HasSubstr("tcp"), Not(HasSubstr("*"))));
  const StudyTable mixed = MakeStudyTable({"s", {tcp, shm}, {}});
  ASSERT_EQ(mixed.cells.size(), 2U);
  EXPECT_TRUE(mixed.varied_keys.empty());
  EXPECT_TRUE(MixesTransports(mixed));
  EXPECT_THAT(RenderText(mixed), ::testing::AllOf(HasSubstr("tcp *"), HasSubstr("shm *"),
                                                  HasSubstr("* Rows over different transports")));
  EXPECT_THAT(RenderCsv(mixed), HasSubstr("shm"));
}

TEST(StudyTable, MarksARingThroughMemoryBesideServersOverTcp) {
  RunResult hosts = Result("hierarchical", 4, 1500);
  hosts.summary["hosts"] = 2;
  const StudyTable table =
      MakeStudyTable({"s", {Result("ps-sync", 4, 1000), Result("shm", 4, 3000), hosts}, {}});
  EXPECT_TRUE(MixesTransports(table));
  EXPECT_EQ(CellOf(table, "shm", 4).transport, "shm");
  EXPECT_EQ(CellOf(table, "hierarchical", 4).transport, "shm+tcp");
  EXPECT_THAT(RenderText(table),
              ::testing::AllOf(HasSubstr("tcp *"), HasSubstr("shm *"), HasSubstr("shm+tcp *")));
  EXPECT_EQ(RenderJson(table)["mixes_transports"], true);
}

TEST(StudyTable, ALineOverWorkersHoldsHostsOfAllNumbers) {
  std::vector<RunResult> runs;
  for (const int workers : {1, 2, 4}) {
    runs.push_back(Result("hierarchical", workers, 1000));
    runs.back().summary["hosts"] = std::min(workers, 2);
  }
  const StudyTable table = MakeStudyTable({"s", runs, {}});
  ASSERT_EQ(table.scaling.size(), 1U);
  EXPECT_EQ(table.scaling[0].label, "hierarchical");
  EXPECT_EQ(table.scaling[0].cells.size(), 3U);
}

TEST(StudyTable, WithoutSingleWorkerThereIsNoSpeedup) {
  const StudyTable table = MakeStudyTable({"s", {Result("ring", 2, 1000)}, {}});
  EXPECT_FALSE(table.cells[0].speedup.has_value());
  EXPECT_THAT(RenderText(table), HasSubstr("No speed-up"));
}

TEST(StudyTable, TakesMediansOverRepetitionsAndCountsThem) {
  const StudyTable table = MakeStudyTable(
      {"s",
       {Result("ring", 2, 100, 9, 0), Result("ring", 2, 300, 30, 1), Result("ring", 2, 200, 12, 2),
        Result("none", 2, 100, 4, 0), Result("none", 2, 100, 5, 1)},
       {}});
  ASSERT_EQ(table.cells.size(), 2U);
  EXPECT_EQ(CellOf(table, "ring", 2).runs, 3);
  EXPECT_DOUBLE_EQ(*CellOf(table, "ring", 2).step_ms, 12);
  EXPECT_DOUBLE_EQ(*CellOf(table, "ring", 2).samples_per_s, 200);
  EXPECT_DOUBLE_EQ(*CellOf(table, "none", 2).step_ms, 4.5);
}

// A model of numbers has no accuracy.
TEST(StudyTable, ShowsWhatElseWasMeasuredHeldOut) {
  std::vector<RunResult> runs{Result("ring", 2, 1000, 10, 0), Result("ring", 2, 1000, 10, 1),
                              Result("ring", 2, 1000, 10, 2)};
  for (RunResult& run : runs) {
    const double error = 0.1 * (run.spec.repetition + 1);
    run.summary["eval_accuracy"] = nullptr;
    run.summary["eval_loss"] = 2 * error;
    run.summary["eval_metrics"] = {{"mae", error}, {"note", "no number"}};
  }
  const StudyTable table = MakeStudyTable({"s", runs, {}});
  EXPECT_DOUBLE_EQ(*table.cells[0].test_loss, 0.4);
  EXPECT_EQ(table.cells[0].metrics, (std::map<std::string, double>{{"mae", 0.2}}));
  const std::string text = RenderText(table);
  EXPECT_THAT(text, HasSubstr("mae"));
  EXPECT_THAT(text, HasSubstr("0.4000"));
  const std::string page = RenderMarkdown(table);
  EXPECT_THAT(page, HasSubstr("| test loss | staleness | mae |"));
  EXPECT_THAT(page, HasSubstr("| 0.4000 | 1.50 | 0.2 |"));
  const json data = RenderJson(table);
  EXPECT_EQ(data["cells"][0]["metrics"]["mae"], 0.2);
  EXPECT_EQ(data["cells"][0]["results"][0]["metrics"]["mae"], 0.1);
  for (RunResult& run : runs) run.summary["eval_accuracy"] = 0.9;
  EXPECT_THAT(RenderMarkdown(MakeStudyTable({"s", runs, {}})), Not(HasSubstr("test loss")))
      << "an accuracy says more";
}

TEST(StudyTable, BytesStandBesideTheirBound) {
  const StudyTable table = MakeStudyTable({"s", {Result("ring", 2, 100)}, {}});
  EXPECT_DOUBLE_EQ(*table.cells[0].bytes_per_step, 4100);
  EXPECT_DOUBLE_EQ(*table.cells[0].bound_bytes_per_step, 4000);
  EXPECT_FALSE(table.cells[0].bound_ms.has_value());
  EXPECT_FALSE(table.cells[0].bound_ratio.has_value());
}

TEST(StudyTable, ShowsOtherKeysThatTheStudyVaries) {
  RunResult small = Result("ring", 2, 100);
  small.spec.bucket_bytes = 1 << 20;
  RunResult small_single = Result("ring", 1, 50);
  small_single.spec.bucket_bytes = 1 << 20;
  const StudyTable table = MakeStudyTable(
      {"s", {Result("ring", 2, 300), Result("ring", 1, 100), small, small_single}, {}});
  EXPECT_THAT(table.varied_keys, ::testing::ElementsAre("bucket_bytes"));
  ASSERT_EQ(table.cells.size(), 4U);
  for (const StudyCell& cell : table.cells) {
    if (cell.workers != 2) continue;
    // Each bucket size has its own baseline.
    EXPECT_DOUBLE_EQ(*cell.speedup, cell.varied.at("bucket_bytes") == "1048576" ? 2 : 3);
  }
}

TEST(StudyTable, AKeyThatFollowsAnotherIsNoColumn) {
  RunResult two = Result("ring", 2, 300), four = Result("ring", 4, 500);
  two.spec.hosts = 2;
  four.spec.hosts = 4;
  EXPECT_TRUE(MakeStudyTable({"s", {two, four}, {}}).varied_keys.empty());
  RunResult together = two;
  together.spec.hosts = 1;
  EXPECT_THAT(MakeStudyTable({"s", {two, four, together}, {}}).varied_keys,
              ::testing::ElementsAre("hosts"));
}

TEST(StudyTable, HostsFollowWorkersAndNetworkTogether) {
  RunResult flat = Result("ring", 4, 300), shared = Result("ring", 4, 500);
  flat.spec.network = ParseNetwork("1Gbps");
  flat.spec.hosts = 4;
  shared.spec.network = ParseNetwork("hosts=2,rate=1Gbps");
  shared.spec.hosts = 2;
  EXPECT_THAT(MakeStudyTable({"s", {flat, shared}, {}}).varied_keys,
              ::testing::ElementsAre("network"));
}

TEST(StudyRender, JsonTakesDirectoriesOfAnyBytes) {
  RunResult run = Result("ring", 2, 100);
  run.directory = "results/\xff";
  EXPECT_THAT(RenderJson(MakeStudyTable({"s", {run}, {}})).dump(),
              HasSubstr("results/\xEF\xBF\xBD"));
}

TEST(StudyTable, ListsFailedRunsWithTheirCauseAndLeavesThemOutOfMedians) {
  RunResult failed = Result("ring", 2, 9999, 9999, 1);
  failed.summary["status"] = "failed";
  failed.summary["error"] = "worker 1 was killed by signal 9";
  failed.summary["failure"] = {{"kind", "signal"}, {"member", "worker 1"}, {"seconds", 2}};
  failed.summary["last_words"] = nlohmann::json::array();
  for (const char* text : {"worker 1 has failed", "worker 0 waits for bucket 3 for 2.0 s"}) {
    failed.summary["last_words"].push_back({{"text", text}});
  }
  const StudyTable table = MakeStudyTable({"s", {Result("ring", 2, 100), failed}, {}});
  ASSERT_EQ(table.cells.size(), 1U);
  EXPECT_EQ(table.cells[0].runs, 1);
  EXPECT_EQ(table.cells[0].failed, 1);
  EXPECT_DOUBLE_EQ(*table.cells[0].step_ms, 10);
  ASSERT_EQ(table.failed.size(), 1U);
  const std::string text = RenderText(table);
  EXPECT_THAT(text, HasSubstr("worker 1 was killed by signal 9"));
  EXPECT_THAT(text,
              HasSubstr("    last words: worker 1 has failed; worker 0 waits for bucket 3 for "
                        "2.0 s\n"));
  EXPECT_EQ(RenderJson(table)["failed"][0]["kind"], "signal");
  EXPECT_THAT(text, HasSubstr("1+1 failed"));
}

TEST(StudyTable, ListsWhatWentWrongWithoutEndingARun) {
  RunResult run = Result("ring", 2, 100);
  const nlohmann::json words = nlohmann::json::array({{{"text", "worker 0 waits for bucket 3"}}});
  run.summary["failed_generations"] = nlohmann::json::array(
      {{{"error", "worker 1 was killed by signal 9"}, {"last_words", words}}});
  run.summary["lost_workers"] = nlohmann::json::array(
      {{{"worker", 1}, {"reason", "worker 1 exited with code 0"}, {"last_words", nullptr}}});
  run.summary["warnings"] =
      nlohmann::json::array({"worker 1 computes step 17 for 3.1 s; 1 worker waits for it"});
  const StudyTable table = MakeStudyTable({"s", {run}, {}});
  EXPECT_TRUE(table.failed.empty());
  ASSERT_EQ(table.incidents.size(), 3U);
  EXPECT_EQ(table.incidents[0].text, "generation 0 failed: worker 1 was killed by signal 9");
  EXPECT_EQ(table.incidents[0].last_words, "worker 0 waits for bucket 3");
  EXPECT_EQ(table.incidents[1].text,
            "the run went on without a worker: worker 1 exited with code 0");
  EXPECT_EQ(table.incidents[1].last_words, "");
  EXPECT_EQ(RenderJson(table)["incidents"][2]["text"],
            "worker 1 computes step 17 for 3.1 s; 1 worker waits for it");
  const std::string text = RenderText(table);
  EXPECT_THAT(text, HasSubstr("What went wrong without ending a run:\n"));
  EXPECT_THAT(text, HasSubstr("    last words: worker 0 waits for bucket 3\n"));
}

TEST(StudyTable, SurvivesSummariesThatLackEverything) {
  RunResult bare = Result("ring", 2, 1);
  bare.summary = {{"status", "done"}};
  const StudyTable table = MakeStudyTable({"s", {bare}, {}});
  EXPECT_FALSE(table.cells[0].step_ms.has_value());
  EXPECT_THAT(RenderText(table), HasSubstr("ring"));
  EXPECT_TRUE(RenderJson(table)["cells"][0]["step_ms"].is_null());
}

TEST(StudyRender, CellsStandInTheOrderOfTheStrategyTable) {
  const StudyTable table = MakeStudyTable(
      {"s", {Result("ps-sync", 1, 1), Result("none", 2, 1), Result("none", 1, 1)}, {}});
  EXPECT_EQ(table.cells[0].strategy, "none");
  EXPECT_EQ(table.cells[0].workers, 1);
  EXPECT_EQ(table.cells[1].workers, 2);
  EXPECT_EQ(table.cells[2].strategy, "ps-sync");
}

TEST(StudyRender, TextAlignsItsColumns) {
  const std::string text =
      RenderText(MakeStudyTable({"s", {Result("none", 1, 1000), Result("ring", 4, 123456)}, {}}));
  EXPECT_THAT(text, HasSubstr("97.0 %"));
  EXPECT_THAT(text, HasSubstr("best single worker (none, 1 worker)"));
  EXPECT_THAT(
      text,
      HasSubstr("\nnone            1        -  -             1  10.00     2.50     1000    1.00"));
  EXPECT_THAT(
      text,
      HasSubstr("\nring            4        -  tcp           1  10.00     2.50   123456  123.46"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

TEST(StudyRender, CsvHasOneLineACell) {
  RunResult odd = Result("ring", 2, 100);
  odd.spec.data_dir = "a,\"b\"";
  const std::string csv = RenderCsv(MakeStudyTable({"s", {Result("none", 1, 100), odd}, {}}));
  EXPECT_THAT(csv, ::testing::StartsWith("schema,data_dir,strategy,workers,"));
  EXPECT_THAT(csv, HasSubstr("\r\nringside.report/2,\"a,\"\"b\"\"\",ring,2,0,false,tcp,1,0,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST(StudyRender, JsonHasEverything) {
  StudyInput input{"s", {Result("ring", 1, 100)}, {{"x", "damaged"}}};
  const json report = RenderJson(MakeStudyTable(input));
  EXPECT_EQ(report["schema"], "ringside.report/2");
  EXPECT_EQ(report["cells"][0]["accuracy"], 0.97);
  EXPECT_EQ(report["cells"][0]["speedup"], 1.0);
  EXPECT_TRUE(report["cells"][0]["bound_ms"].is_null());
  EXPECT_EQ(report["problems"][0]["cause"], "damaged");
}

}  // namespace
}  // namespace ringside
