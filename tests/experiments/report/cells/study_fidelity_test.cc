// Tests that runs which the machine limited are marked everywhere and take part in no verdict.
#include "ringside/experiments/report/cells/study_fidelity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/study/study_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kCause[] = "the processor: 4 % idle in second 3, at least 35 % needed";

json Fidelity(const char* verdict) {
  const bool limited = std::string_view(verdict) == "limited";
  return {{"verdict", verdict},
          {"limited_by", limited ? json::array({kCause}) : json::array()},
          {"not_judged", ""},
          {"judged_seconds", 12.5},
          {"least_idle_share", limited ? 0.04 : 0.41},
          {"late_wakeups_ms", {{"worst_second_p99", 1.3}, {"allowed", 5.0}}}};
}

json Dilation(double factor, int hosts) {
  return {{"factor", factor},
          {"asked", "auto"},
          {"cores", 2},
          {"hosts", hosts},
          {"equivalent_cores_per_host", factor * 2 / hosts},
          {"wall_step_ms", 100 * factor},
          {"scaled", {"rates of links"}},
          {"not_scaled", {"a host's own round trip"}}};
}

RunResult OneRun(const std::string& strategy, int workers, double step_ms, int repetition,
                 const char* verdict = "ok") {
  RunResult run;
  run.spec = RunSpec(TestCatalog());
  run.directory = strategy + std::to_string(workers) + "-" + std::to_string(repetition);
  run.spec.strategy = strategy;
  run.spec.workers = workers;
  run.spec.servers = strategy.starts_with("ps-") ? 1 : 0;
  run.spec.global_batch = 100;
  run.spec.repetition = repetition;
  run.summary = {{"status", "done"},
                 {"run_id", run.directory},
                 {"step_ms", {{"median", step_ms}}},
                 {"samples_per_s", 100'000 / step_ms},
                 {"bound_ms", 100.0},
                 {"bound_ratio", step_ms / 100},
                 {"wall_seconds", 50.0},
                 {"train_seconds", 4.0},
                 {"dilation", Dilation(1, workers)},
                 {"fidelity", Fidelity(verdict)}};
  return run;
}

/// Adds five repetitions whose step times are `step_ms` and up to 2 % more.
void Add(StudyInput& study, const std::string& strategy, int workers, double step_ms,
         const char* verdict = "ok") {
  for (int i = 0; i < 5; ++i) {
    study.runs.push_back(OneRun(strategy, workers, step_ms * (1 + 0.005 * i), i, verdict));
  }
}

const StudyCell& CellOf(const StudyTable& table, std::string_view strategy, int workers) {
  for (const StudyCell& cell : table.cells) {
    if (cell.strategy == strategy && cell.workers == workers) return cell;
  }
  throw std::runtime_error("no such cell");
}

TEST(RunFidelity, ReadsWhatTheSummaryRecords) {
  StudyInput study;
  study.runs = {OneRun("ring", 4, 110, 0, "limited")};
  study.runs[0].summary["dilation"] = Dilation(10, 8);
  const StudyRun run = MakeStudyTable(study).cells[0].results[0];
  EXPECT_EQ(run.fidelity->verdict, FidelityVerdict::kLimited);
  EXPECT_THAT(run.fidelity->limited_by, ElementsAre(kCause));
  EXPECT_EQ(run.least_idle_share, 0.04);
  EXPECT_EQ(run.fidelity->late_wakeups_worst_ms, 1.3);
  EXPECT_EQ(run.dilation_factor, 10);
  EXPECT_EQ(run.equivalent_cores_per_host, 2.5);
  EXPECT_EQ(run.wall_step_ms, 1000);
  EXPECT_EQ(run.dilation->asked, "auto");
  EXPECT_THAT(run.dilation->not_scaled, ElementsAre("a host's own round trip"));
}

TEST(RunFidelity, AnAbsentRecordIsNoVerdict) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  study.runs[0].summary.erase("fidelity");
  study.runs[0].summary.erase("dilation");
  study.runs[1].summary["fidelity"] = nullptr;
  study.runs[1].summary["dilation"] = nullptr;
  study.runs[2].summary["fidelity"] = "limited";
  study.runs[2].summary["dilation"] = {{"factor", "ten"}};
  const StudyTable table = MakeStudyTable(study);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(table.cells[0].results[static_cast<std::size_t>(i)].fidelity) << i;
  }
  EXPECT_EQ(table.cells[0].limited, 0);
  EXPECT_THAT(table.method.warnings, Not(Contains(HasSubstr("machine"))));
}

TEST(RunFidelity, AnAbsentRecordOfAnEmulatedNetworkIsNotJudged) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  study.runs[0].summary["network"] = "100 Mbit/s";
  study.runs[0].summary.erase("fidelity");
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(table.cells[0].results[0].fidelity->verdict, FidelityVerdict::kNotJudged);
  EXPECT_EQ(table.cells[0].limited, 1);
}

TEST(RunFidelity, ALimitedRunWithoutACauseTakesNoPart) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  study.runs[0].summary["fidelity"]["verdict"] = "limited";
  EXPECT_EQ(MakeStudyTable(study).cells[0].limited, 1);
}

TEST(StudyFidelity, ALimitedRunStaysInItsCellAndOutOfItsNumbers) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  study.runs.push_back(OneRun("ring", 4, 900, 5, "limited"));
  const StudyTable table = MakeStudyTable(study);
  const StudyCell& cell = table.cells[0];
  EXPECT_EQ(cell.runs, 6);
  EXPECT_EQ(cell.limited, 1);
  ASSERT_EQ(cell.results.size(), 6U);
  EXPECT_NEAR(*cell.step_ms, 110 * 1.01, 1e-9);
  EXPECT_LT(cell.intervals.at("step_ms").high, 120);
  EXPECT_FALSE(cell.results[5].outlier) << "it has its own mark";
  EXPECT_THAT(cell.bound_explanation, IsEmpty());
  EXPECT_THAT(
      table.method.warnings,
      ElementsAre(
          "1 run was limited by the machine, or may have been, and takes no part in verdicts: " +
          std::string(kCause)));
}

TEST(StudyFidelity, ACellWhoseRunsAreAllLimitedKeepsItsNumbersAndHasNoPart) {
  StudyInput study;
  Add(study, "ring", 4, 50, "limited");
  Add(study, "ps-sync", 4, 200);
  Add(study, "halving-doubling", 4, 100);
  const StudyTable table = MakeStudyTable(study);
  const StudyCell& ring = CellOf(table, "ring", 4);
  EXPECT_TRUE(IsAllLimited(ring));
  EXPECT_NEAR(*ring.step_ms, 50 * 1.01, 1e-9);
  ASSERT_EQ(table.findings.size(), 1U);
  EXPECT_EQ(table.cells[table.findings[0].ring_cell].strategy, "halving-doubling");
  EXPECT_NEAR(*table.findings[0].ring_over_ps.ratio, 2, 1e-9);
  for (const BaselineComparison& pair : table.pairs) {
    EXPECT_EQ(pair.baseline, "halving-doubling");
    EXPECT_NE(pair.compared, "ring");
  }
  EXPECT_THAT(table.verdict.caveats,
              Contains("The machine limited every run of 1 configuration, which takes no part: "
                       "ring, 4 workers."));
}

TEST(StudyFidelity, AFindingDoesNotCountLimitedRuns) {
  StudyInput study;
  Add(study, "ring", 4, 100);
  Add(study, "ps-sync", 4, 200);
  for (int i = 5; i < 15; ++i) study.runs.push_back(OneRun("ring", 4, 900, i, "limited"));
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(table.verdict.winner, "ring");
  EXPECT_TRUE(table.findings[0].ring_over_ps.paired);
  EXPECT_EQ(table.findings[0].ring_over_ps.runs, 5U);
}

TEST(StudyFidelity, WhenEveryRunIsLimitedThereIsNoVerdict) {
  StudyInput study;
  Add(study, "ring", 4, 100, "limited");
  Add(study, "ps-sync", 4, 200, "limited");
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(table.verdict.winner, "none");
  EXPECT_EQ(table.verdict.sentence,
            "No verdict: the machine limited every run, so the runs do not show how the strategies "
            "compare.");
  EXPECT_THAT(table.verdict.caveats,
              ElementsAre("What limited the runs: the processor in 10 of 10 runs (one of them: 4 % "
                          "idle in second 3, at least 35 % needed)."));
  EXPECT_THAT(table.findings, IsEmpty());
  EXPECT_THAT(table.pairs, IsEmpty());
  EXPECT_THAT(table.claims, IsEmpty());
  EXPECT_THAT(RenderText(table), HasSubstr("No verdict: the machine limited every run"));
  EXPECT_THAT(RenderMarkdown(table, {}), HasSubstr("No verdict: the machine limited every run"));
  EXPECT_THAT(RenderHtml(table), HasSubstr("No verdict: the machine limited every run"));
}

TEST(StudyFidelity, WhenOneSideIsLimitedTheVerdictSaysSo) {
  StudyInput study;
  Add(study, "ring", 4, 100, "limited");
  Add(study, "ps-sync", 4, 200);
  const StudyVerdict verdict = MakeStudyTable(study).verdict;
  EXPECT_EQ(verdict.winner, "none");
  EXPECT_THAT(verdict.sentence, EndsWith("the machine limited every run of one side."));
}

TEST(StudyFidelity, AFitOverWorkersLeavesLimitedRunsOut) {
  StudyInput study;
  for (const int workers : {1, 2, 4}) Add(study, "ps-sync", workers, 100 * workers);
  const double slope = *MakeStudyTable(study).scaling[0].step_ms_slope;
  study.runs.push_back(OneRun("ps-sync", 4, 4000, 9, "limited"));
  Add(study, "ps-sync", 8, 9000, "limited");
  const StudyTable table = MakeStudyTable(study);
  EXPECT_DOUBLE_EQ(*table.scaling[0].step_ms_slope, slope);
  EXPECT_EQ(table.scaling[0].cells.size(), 4U) << "the line still shows it";
}

TEST(StudyFidelity, TheSerialFractionOfALineLeavesLimitedCellsOut) {
  StudyInput study;
  for (const int workers : {1, 2, 4}) Add(study, "ring", workers, 400.0 / workers);
  const double fraction = *MakeStudyTable(study).scaling[0].amdahl_serial_fraction;
  Add(study, "ring", 8, 300, "limited");
  EXPECT_DOUBLE_EQ(*MakeStudyTable(study).scaling[0].amdahl_serial_fraction, fraction);
}

TEST(StudyFidelity, ALimitedWorkerIsNoBaselineOfSpeedUps) {
  StudyInput study;
  Add(study, "none", 1, 50, "limited");
  Add(study, "ring", 1, 100);
  Add(study, "ring", 4, 50);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(CellOf(table, "ring", 4).baseline, "ring, 1 worker");
  EXPECT_NEAR(*CellOf(table, "ring", 4).speedup, 2, 1e-9);
}

std::vector<std::string> ClaimsOf(const StudyInput& study) {
  std::vector<std::string> claims;
  for (const Claim& claim : MakeStudyTable(study).claims) claims.push_back(claim.claim);
  return claims;
}

TEST(StudyFidelity, ClaimsAboutGrowthLeaveLimitedRunsOut) {
  StudyInput study;
  for (const int workers : {1, 2, 4}) Add(study, "ps-sync", workers, 100 * workers);
  for (int i = 5; i < 12; ++i) study.runs.push_back(OneRun("ps-sync", 4, 40, i, "limited"));
  Add(study, "ps-sync", 8, 100, "limited");
  const StudyTable table = MakeStudyTable(study);
  ASSERT_EQ(table.claims.size(), 1U);
  EXPECT_EQ(table.claims[0].outcome, Outcome::kShown);
  EXPECT_EQ(table.claims[0].place, "1, 2, 4 workers");
  StudyInput few;
  for (const int workers : {1, 2}) Add(few, "ps-sync", workers, 100 * workers);
  Add(few, "ps-sync", 4, 400, "limited");
  EXPECT_THAT(ClaimsOf(few), IsEmpty()) << "three numbers of workers are needed";
}

TEST(StudyFidelity, ClaimsAboutServersAndUpdatesLeaveLimitedCellsOut) {
  const auto study = [](const char* of_ring, const char* of_server, const char* of_async) {
    StudyInput made;
    Add(made, "ring", 4, 100, of_ring);
    Add(made, "ps-sync", 4, 101, of_server);
    Add(made, "ps-async", 4, 90, of_async);
    for (RunResult& run : made.runs) {
      if (run.spec.strategy == "ps-sync") {
        run.spec.colocated = true;
        run.spec.servers = 4;
      }
      if (run.spec.strategy == "ps-async") run.summary["staleness"] = {{"mean", 3.0}};
    }
    return ClaimsOf(made);
  };
  EXPECT_THAT(study("ok", "ok", "ok"),
              ElementsAre(HasSubstr("is as fast as ring"), HasSubstr("versions late")));
  EXPECT_THAT(study("limited", "ok", "ok"), ElementsAre(HasSubstr("versions late")));
  EXPECT_THAT(study("ok", "limited", "ok"), ElementsAre(HasSubstr("versions late")));
  EXPECT_THAT(study("ok", "ok", "limited"), ElementsAre(HasSubstr("is as fast as ring")));
}

TEST(StudyFidelity, AccuraciesAreComparedWithoutLimitedRuns) {
  StudyInput study;
  Add(study, "ps-sync", 4, 100);
  Add(study, "ps-async", 4, 90);
  study.runs.push_back(OneRun("ps-sync", 4, 100, 5, "limited"));
  study.runs.push_back(OneRun("ps-async", 4, 90, 5, "limited"));
  for (RunResult& run : study.runs) {
    run.summary["straggler_ms"] = 10;
    run.summary["eval_accuracy"] = run.spec.strategy == "ps-sync" ? 0.97 : 0.95;
  }
  const StudyTable table = MakeStudyTable(study);
  const auto claim = std::ranges::find_if(table.claims, [](const Claim& one) {
    return one.claim.find("less accurate") != std::string::npos;
  });
  ASSERT_NE(claim, table.claims.end());
  EXPECT_THAT(claim->numbers, HasSubstr("5 pairs"));
}

TEST(StudyFidelity, TheTargetComesFromRunsThatWereNotLimited) {
  StudyInput study;
  Add(study, "ring", 4, 100, "limited");
  Add(study, "tree", 4, 100);
  for (RunResult& run : study.runs) {
    run.summary["eval_accuracy"] = run.spec.strategy == "ring" ? 0.9 : 0.8;
  }
  EXPECT_DOUBLE_EQ(*MakeStudyTable(study).target.accuracy, 0.95 * 0.8);
  for (RunResult& run : study.runs) run.summary["fidelity"] = Fidelity("limited");
  const StudyTarget target = MakeStudyTable(study).target;
  EXPECT_DOUBLE_EQ(*target.accuracy, 0.95 * 0.9);
  EXPECT_THAT(target.origin, EndsWith("; the machine limited every run that was evaluated"));
}

TEST(StudyFidelity, ARunThatWasNotJudgedTakesNoPartAndIsNamed) {
  StudyInput study;
  Add(study, "ring", 4, 100);
  Add(study, "ps-sync", 4, 200);
  for (RunResult& run : study.runs) {
    run.summary["fidelity"] = {{"verdict", nullptr},
                               {"limited_by", json::array()},
                               {"not_judged", "the processor's times cannot be read"}};
  }
  study.runs.push_back(OneRun("ring", 4, 100, 7));
  study.runs.back().summary["status"] = "failed";
  study.runs.back().summary["fidelity"] = {{"verdict", nullptr}, {"not_judged", "no step"}};
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(table.verdict.winner, "none");
  EXPECT_EQ(CellOf(table, "ring", 4).limited, 5);
  EXPECT_THAT(table.method.warnings,
              Contains("10 runs were limited by the machine, or may have been, and take no part in "
                       "verdicts: not judged in 10 of 10 runs (one of them: the processor's times "
                       "cannot be read)"));
  EXPECT_THAT(RenderRunsCsv(table), HasSubstr(",not judged,,"));
  EXPECT_EQ(RenderJson(table)["cells"][0]["results"][0]["fidelity"]["verdict"], nullptr);
}

TEST(StudyFidelity, LimitedRunsAreMarkedInEveryForm) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  study.runs[2].summary["fidelity"] = Fidelity("limited");
  Add(study, "ps-sync", 4, 150, "limited");
  const StudyTable table = MakeStudyTable(study);
  EXPECT_THAT(
      RenderText(table),
      AllOf(HasSubstr("5 (1 limited)"), HasSubstr("5 (all limited)"),
            HasSubstr("\n    ! limited by the machine: the processor in 5 of 5 runs"),
            HasSubstr("limited: the machine was too slow"),
            HasSubstr("6 runs were limited by the machine, or may have been, and take no part in "
                      "verdicts")));
  EXPECT_THAT(RenderMarkdown(table, {}), AllOf(HasSubstr("| 5, 1 limited by the machine |"),
                                               HasSubstr("| 5, all limited by the machine |"),
                                               HasSubstr("Fidelity: a run on emulated hosts")));
  EXPECT_THAT(RenderCsv(table), AllOf(HasSubstr(",runs,failed,limited,takes_part,"),
                                      HasSubstr(",5,0,1,true,"), HasSubstr(",5,0,5,false,")));
  EXPECT_THAT(RenderRunsCsv(table), HasSubstr(std::string(",limited,\"") + kCause + "\","));
  const json report = RenderJson(table);
  for (const json& cell : report["cells"]) {
    EXPECT_EQ(cell["takes_part"], cell["strategy"] == "ring");
    EXPECT_EQ(cell["limited"], cell["strategy"] == "ring" ? 1 : 5);
    EXPECT_THAT(cell["limited_by"].get<std::string>(), StartsWith("the processor in "));
  }
  EXPECT_EQ(report["cells"][0]["results"][2]["fidelity"]["limited_by"][0], kCause);
}

TEST(StudyFidelity, AStudyWithoutLimitsHasNoMarks) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  Add(study, "ps-sync", 4, 200);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_THAT(RenderText(table), AllOf(Not(HasSubstr("limited")), Not(HasSubstr("dilat"))));
  EXPECT_THAT(RenderMarkdown(table, {}), Not(HasSubstr("dilation factor |")));
  for (RunResult& run : study.runs) run.summary.erase("fidelity");
  EXPECT_THAT(MakeStudyTable(study).method.fidelity, IsEmpty());
}

TEST(StudyDilation, TheReportSaysHowSlowlyClocksWentAndWhatTheyCannotScale) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  Add(study, "ps-sync", 4, 200);
  for (RunResult& run : study.runs) {
    const bool ring = run.spec.strategy == "ring";
    run.summary["dilation"] = Dilation(ring ? 8 : 10, ring ? 4 : 5);
  }
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(DilationText(CellOf(table, "ring", 4)), "8");
  ASSERT_EQ(table.dilation.rows.size(), 2U);
  EXPECT_EQ(table.dilation.rows[0].factor, 8);
  EXPECT_EQ(table.dilation.rows[0].equivalent_cores_per_host, 4);
  EXPECT_EQ(table.dilation.rows[1].runs, 5);
  EXPECT_EQ(table.dilation.rows[1].train_seconds, 20);
  EXPECT_EQ(table.dilation.rows[1].wall_seconds, 250);
  EXPECT_THAT(
      table.verdict.caveats,
      AllOf(Contains("Times are in dilated time: one second of it is 8 to 10 seconds of the "
                     "machine."),
            Contains(
                "The dilation factors of servers and ring differ in 1 comparison: with 4 workers "
                "that of ps-sync with 1 server is 10, that of ring is 8.")));
  EXPECT_THAT(RenderText(table), AllOf(HasSubstr("dilation"), HasSubstr("dilated time")));
  EXPECT_THAT(RenderMarkdown(table, {}),
              AllOf(HasSubstr("| dilation factor |"), HasSubstr("\n## Dilated time\n"),
                    HasSubstr("| 10 | auto | 2 | 5 | 4 | 5 | 0 | 20.0 | 250.0 |"),
                    HasSubstr("Scaled by the factor:\n\n- rates of links\n"),
                    HasSubstr("Not scaled:\n\n- a host's own round trip\n")));
  const json report = RenderJson(table);
  EXPECT_EQ(report["dilation"]["rows"][1]["equivalent_cores_per_host"], 4);
  EXPECT_THAT(report["dilation"]["not_scaled"], ElementsAre("a host's own round trip"));
  EXPECT_THAT(report["method"]["dilation"].get<std::string>(), HasSubstr("the machine's time"));
  EXPECT_EQ(report["cells"][0]["results"][0]["dilation"]["asked"], "auto");
  EXPECT_THAT(RenderCsv(table), HasSubstr(",dilation_factor,dilation_factor_low,"));
}

TEST(StudyDilation, ACellWithTwoFactorsIsNamed) {
  StudyInput study;
  Add(study, "ring", 4, 110);
  for (RunResult& run : study.runs) run.summary["dilation"] = Dilation(10, 4);
  study.runs[1].summary["dilation"] = Dilation(2.5, 4);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_EQ(DilationText(table.cells[0]), "2.5 to 10");
  EXPECT_THAT(table.method.warnings,
              Contains("1 configuration has runs with different dilation factors"));
  EXPECT_THAT(RenderText(table), HasSubstr("2.5 to 10"));
}

}  // namespace
}  // namespace ringside
