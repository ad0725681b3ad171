#include "ringside/experiments/demo/page_data.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/demo/demo_page.h"
#include "ringside/experiments/demo/page_columns.h"
#include "tests/experiments/demo/demo_testing.h"

namespace ringside {
namespace {

TEST(PageColumns, AreDifferencesInVariableLength) {
  EXPECT_EQ(PageColumn({}), "");
  const std::vector<std::int64_t> values{1, 0, 300};
  // +1 is 2, -1 is 1, +300 is 600 = 0xD8 0x04.
  EXPECT_EQ(PageColumn(values), "AgHYBA==");
}

TEST(PageWindow, BeginsAfterTheWarmUp) {
  RecordedRun run = SampleRun::Ring(10);
  run.summary["warmup_steps"] = 3;
  const PageWindow window = ChooseWindow(run, {.most = 4});
  ASSERT_EQ(window.steps.size(), 4U);
  EXPECT_EQ(window.steps.front().step, 3);
  EXPECT_EQ(window.begin, 3'000);
  EXPECT_EQ(window.end, 7'000);
}

TEST(PageWindow, HoldsAStepAtLeastAndNoMoreThanFits) {
  const RecordedRun run = SampleRun::Ring(10);
  EXPECT_EQ(ChooseWindow(run, {.most_events = 1}).steps.size(), 1U);
  EXPECT_EQ(ChooseWindow(run, {.most_events = 24}).steps.size(), 2U);
  EXPECT_TRUE(ChooseWindow(SampleRun::Ring(0), {}).steps.empty());
}

TEST(PageWindow, CountsTheUpdatesOfServersAndWorkers) {
  // Two steps have 14 spans, 8 transfers and 2 updates. Two spans begin as they end.
  const RecordedRun servers = SampleRun::Servers(10);
  EXPECT_EQ(ChooseWindow(servers, {.most_events = 25}).steps.size(), 1U);
  EXPECT_EQ(ChooseWindow(servers, {.most_events = 26}).steps.size(), 2U);
  // The optimizers of two workers are 4 more spans and 4 updates.
  RecordedRun ring = SampleRun::Ring(10);
  for (int step = 0; step < 10; ++step) {
    const std::int64_t begin = 1'000 * step + 900;
    for (const int rank : {0, 1}) {
      ring.spans.push_back(
          {rank, kCommunicationLane, SpanKind::kApply, step, 0, begin, begin + 50});
    }
  }
  EXPECT_EQ(ChooseWindow(ring, {.most_events = 25}).steps.size(), 1U);
  EXPECT_EQ(ChooseWindow(ring, {.most_events = 26}).steps.size(), 2U);
}

TEST(PageWindow, AStepThatTheRecordLacksIsAnError) {
  const RecordedRun run = SampleRun::Ring(10);
  EXPECT_EQ(ChooseWindow(run, {.first = 8}).steps.front().step, 8);
  EXPECT_THROW(ChooseWindow(run, {.first = 10}), Error);
}

TEST(PageRun, HasNodesAndCounts) {
  const RecordedRun run = SampleRun::Servers(4);
  const nlohmann::json page = PageRun(run, ChooseWindow(run, {.most = 2}));
  EXPECT_EQ(page["topology"], "star");
  EXPECT_EQ(page["nodes"].size(), 3U);
  EXPECT_EQ(page["nodes"][2]["kind"], "server");
  EXPECT_EQ(page["nodes"][2]["host"], "host 2");
  EXPECT_EQ(page["window"]["end_us"], 2);
  EXPECT_EQ(page["transfers"]["count"], 8);
  EXPECT_EQ(page["updates"]["count"], 2);
  EXPECT_EQ(page["emulated"], false);
}

TEST(PageRun, AServerInAWorkerIsOnItsHost) {
  RecordedRun run = SampleRun::Servers(1);
  run.chunks.head["dedicated_servers"] = 0;
  for (ChunkFile::Row& row : run.chunks.rows) {
    if (row.process == 2) row.process = 1;
  }
  const nlohmann::json page = PageRun(run, ChooseWindow(run, {}));
  EXPECT_EQ(page["nodes"][2]["host"], "host 1");
}

TEST(PageRun, WorkersOfOneHostShareIt) {
  RecordedRun run = SampleRun::Ring(1);
  for (ChunkFile::Process& process : run.chunks.processes) process.host = "node 7";
  const nlohmann::json page = PageRun(run, ChooseWindow(run, {}));
  EXPECT_EQ(page["nodes"][0]["host"], "node 7");
  EXPECT_EQ(page["nodes"][1]["host"], "node 7");
}

TEST(PageRun, ARunWithoutEventsHasAPage) {
  RecordedRun run = SampleRun::Ring(0);
  run.notes.emplace_back("nothing");
  const nlohmann::json page = PageRun(run, ChooseWindow(run, {}));
  EXPECT_EQ(page["transfers"]["count"], 0);
  EXPECT_EQ(page["notes"][0], "nothing");
}

TEST(DemoPage, OneThatIsTooLargeSaysWhatToDo) {
  EXPECT_EQ(PageSizeAdvice(std::string(kMostPageBytes, ' ')), "");
  const std::string advice = PageSizeAdvice(std::string(kMostPageBytes + 500'000, ' '));
  EXPECT_NE(advice.find("2.5 MB, more than 2 MB"), std::string::npos) << advice;
  EXPECT_NE(advice.find("--steps"), std::string::npos) << advice;
}

TEST(DemoPage, TextOfARunCannotBecomeAScript) {
  RecordedRun run = SampleRun::Ring(2);
  run.summary["strategy"] = "</script><script>alert(1)</script>";
  const std::string html =
      RenderDemoPage({PageRun(run, ChooseWindow(run, {}))}, "ringside demo <b>");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_NE(html.find("Content-Security-Policy"), std::string::npos);
}

}  // namespace
}  // namespace ringside
