#include "ringside/experiments/report/render/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/experiments/report/render/markdown_text.h"
#include "tests/experiments/report/synthetic_study.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Markdown, TextStaysText) {
  EXPECT_EQ(EscapeMarkdown("a|b*c_d`e\nf"), "a\\|b\\*c_d\\`e f");
  EXPECT_EQ(EscapeMarkdown("compute_ms _a_ b_ _c"), "compute_ms \\_a\\_ b\\_ \\_c");
  EXPECT_EQ(EscapeMarkdown("<b>&[x](y)"), "&lt;b&gt;&amp;\\[x\\](y)");
  for (const std::string& name : HostileNames()) {
    EXPECT_THAT(EscapeMarkdown(name), Not(HasSubstr("<")));
  }
}

TEST(Markdown, ShowsNumbersWithIntervalsWhereThereAreSome) {
  StudyTable table;
  table.name = "study";
  table.varied_keys = {"model"};
  StudyCell cell;
  cell.strategy = "ring";
  cell.workers = 4;
  cell.runs = 5;
  cell.varied["model"] = "a|b";
  cell.step_ms = 12.345;
  cell.intervals["step_ms"] = {12, 13};
  cell.emulated_compute = true;
  table.cells = {cell};
  table.verdict.sentence = "The ring is faster.";
  const std::string page = RenderMarkdown(table, {"figures/step-time-double.svg"});
  EXPECT_THAT(page, HasSubstr("| model | strategy | workers | servers | runs | step, ms |\n"));
  EXPECT_THAT(page, HasSubstr("| a\\|b | ring | 4 | – | 5 | 12.35 (12.00 to 13.00) |\n"));
  EXPECT_THAT(page, HasSubstr("**The ring is faster.**"));
  EXPECT_THAT(page, HasSubstr("![Step time](figures/step-time-double.svg)"));
  EXPECT_THAT(page, HasSubstr("Compute was emulated"));
  EXPECT_THAT(page, Not(HasSubstr("samples/s")));
}

TEST(Markdown, SaysConditionsInWordsAndConstantsOnce) {
  StudyTable table;
  table.name = "study";
  table.constants = {"model mlp", "at 1 Gbit/s"};
  table.varied_keys = {"compute_ms", "straggler"};
  table.cells.resize(1);
  table.cells[0].strategy = "ring";
  table.cells[0].varied = {{"compute_ms", "100.0"}, {"straggler", "kind=permanent,factor=20"}};
  table.cells[0].conditions = {{"compute_ms", "100 ms of compute"},
                               {"straggler", "worker 0 slowed 20 times"}};
  const std::string page = RenderMarkdown(table);
  EXPECT_THAT(page, HasSubstr("# study\n\nAll runs: model mlp, at 1 Gbit/s.\n\n"));
  EXPECT_THAT(page, HasSubstr("| compute | straggler | strategy |"));
  EXPECT_THAT(page, HasSubstr("| 100 ms of compute | worker 0 slowed 20 times | ring |"));
  EXPECT_THAT(page, Not(HasSubstr("kind=")));
  EXPECT_THAT(page, Not(HasSubstr("\\_")));
}

TEST(Markdown, CallsATieATie) {
  StudyTable table;
  table.cells.resize(2);
  Finding finding;
  finding.ring_over_ps = {true, 1, 1.01, {}, 1};
  table.findings = {finding};
  EXPECT_THAT(RenderMarkdown(table), HasSubstr("| 1 | tie within 2 %, no interval |\n"));
  table.findings[0].ring_over_ps = {true, 5, 1.1, ConfidenceInterval{0.9, 1.3}, 0.6};
  EXPECT_THAT(RenderMarkdown(table), HasSubstr("| 5 | tie within their uncertainty |\n"));
  table.pairs = {{.place = "4 workers",
                  .compared = "tree",
                  .baseline = "ring",
                  .over_baseline = {true, 5, 1.1, ConfidenceInterval{1.05, 1.2}, 1}}};
  EXPECT_THAT(RenderMarkdown(table), HasSubstr("| 1.100 | 1.050 to 1.200 | 1.000 | faster |\n"));
}

TEST(Markdown, ListsEveryFindingWithItsPlace) {
  StudyTable table;
  table.cells.resize(2);
  StudyCell& ring = table.cells[0];
  ring.strategy = "ring";
  ring.workers = 4;
  ring.varied["network"] = "1Gbps";
  ring.conditions["network"] = "at 1 Gbit/s";
  table.cells[1] = ring;
  StudyCell& server = table.cells[1];
  server.strategy = "ps-sync";
  server.servers = 2;
  server.server_hosts = 2;
  Finding finding;
  finding.workers = 4;
  finding.server_hosts = 2;
  finding.ps_cell = 1;
  finding.ring_cell = 0;
  finding.ring_over_ps.paired = true;
  finding.ring_over_ps.runs = 5;
  finding.ring_over_ps.ratio = 0.5;
  finding.ring_over_ps.interval = {0.49, 0.51};
  finding.certainty = Certainty::kClear;
  finding.winner = "parameter server";
  table.findings = {finding};
  table.verdict.sentence = "It depends.";
  table.verdict.details = {"The best ring is faster with 4 workers."};
  const std::string page = RenderMarkdown(table);
  EXPECT_THAT(page, HasSubstr("**It depends.**\n\n- The best ring is faster with 4 workers.\n\n"));
  EXPECT_THAT(page, HasSubstr("| 4 workers at 1 Gbit/s | ps-sync with 2 servers, on 2 more hosts | "
                              "ring | 0.500 | 0.490 to 0.510 | 5 | parameter server faster |\n"));
}

TEST(Markdown, SaysHowItCountedAndWhatWantsASecondLook) {
  StudyTable table;
  table.name = "study";
  table.cells.resize(1);
  table.method.warmup = "leaves out <some>";
  table.method.outliers = "marked, never dropped";
  EXPECT_THAT(RenderMarkdown(table), Not(HasSubstr("## Warnings")));
  table.method.warnings = {"3 runs are marked as outliers", "2 links were not as asked"};
  const std::string page = RenderMarkdown(table);
  EXPECT_THAT(
      page,
      HasSubstr("## Warnings\n\n- 3 runs are marked as outliers\n- 2 links were not as asked\n"));
  EXPECT_THAT(page, HasSubstr("- Warm-up: leaves out &lt;some&gt;.\n- Outliers: marked, never"));
}

TEST(Markdown, NamesWhatIsLeftOut) {
  StudyTable table;
  table.name = "study";
  table.failed.push_back({"dir", "ring, 2 workers", "failed", "worker 1 <died>"});
  EXPECT_THAT(RenderMarkdown(table),
              HasSubstr("- ring, 2 workers: failed: worker 1 &lt;died&gt; (dir)\n"));
  table.failed[0].last_words = "worker 0 <waits>";
  EXPECT_THAT(RenderMarkdown(table), HasSubstr("(dir)\n  - last words: worker 0 &lt;waits&gt;\n"));
  table.incidents.push_back({"dir", "ring, 2 workers", "worker 1 <slept>", "worker 0 <waited>"});
  EXPECT_THAT(RenderMarkdown(table), HasSubstr("## What went wrong without ending a run\n\n"
                                               "- ring, 2 workers: worker 1 &lt;slept&gt; (dir)\n"
                                               "  - last words: worker 0 &lt;waited&gt;\n"));
}

}  // namespace
}  // namespace ringside
