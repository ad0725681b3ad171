#include "ringside/experiments/job/timeline/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "tests/experiments/job/timeline/trace_testing.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

TraceSpan Span(std::int64_t begin, std::int64_t end, int lane = 0,
               SpanKind kind = SpanKind::kWire) {
  return {begin, end, 17, 3, lane, kind};
}

ProcessTrace Process(std::string name, int id, std::vector<TraceSpan> spans) {
  ProcessTrace process;
  process.name = std::move(name);
  process.id = id;
  process.spans = std::move(spans);
  return process;
}

json Parsed(const std::vector<ProcessTrace>& processes, json about = json::object()) {
  return json::parse(ChromeTrace(processes, std::move(about)));
}

TEST(LayOutRows, NestedSpansShareARowAndOverlappingOnesDoNot) {
  const std::vector<TraceSpan> spans{Span(0, 10), Span(2, 5),   Span(5, 10),  Span(6, 7),
                                     Span(8, 12), Span(10, 20), Span(11, 12), Span(12, 12)};
  EXPECT_THAT(LayOutRows(spans), ElementsAre(0, 0, 0, 0, 1, 0, 0, 0));
}

TEST(LayOutRows, OrderOfHandingInDoesNotMatterAndLanesAreApart) {
  EXPECT_THAT(LayOutRows(std::vector{Span(5, 9), Span(0, 10)}), ElementsAre(0, 0));
  EXPECT_THAT(LayOutRows(std::vector{Span(0, 6), Span(5, 9)}), ElementsAre(0, 1));
  EXPECT_THAT(LayOutRows(std::vector{Span(0, 6, 0), Span(5, 9, 1)}), ElementsAre(0, 0));
}

TEST(LayOutRows, OfRandomSpansNestOrDoNotOverlap) {
  std::mt19937 random(3);
  std::vector<TraceSpan> spans;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t begin = std::uniform_int_distribution(0, 2000)(random);
    spans.push_back(Span(begin, begin + std::uniform_int_distribution(0, 60)(random), i % 3));
  }
  ExpectWellFormed(Parsed({Process("worker 0", 0, spans)}));
}

TEST(ChromeTrace, SpansAreCompleteEventsSinceTheFirst) {
  const json trace =
      Parsed({Process("worker 2", 2, {Span(1'000'000'500'250, 1'000'000'502'000, 1)}),
              Process("server 0", 4,
                      {{1'000'000'000'000, 1'000'000'010'000, 18, -1, 0, SpanKind::kForward}})});
  ExpectWellFormed(trace);
  const std::vector<json> spans = EventsOf(trace, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0], json::parse(R"({"ph":"X","name":"wire","pid":2,"tid":1000,"ts":500.25,
                                      "dur":1.75,"args":{"step":17,"bucket":3}})"));
  EXPECT_EQ(spans[1].at("ts"), 0);
  EXPECT_EQ(spans[1].at("args"), json::parse(R"({"step":18})")) << "no bucket";
}

TEST(ChromeTrace, NamesProcessesAndRowsAndEscapesNames) {
  const std::string name = "a \"quoted\" \\ name\n\x01 </script> \xff";
  const json trace = Parsed({Process(name, 7, {Span(0, 6), Span(5, 9), Span(0, 1, kServerLane)})});
  EXPECT_EQ(NameOf(trace, "process_name", 7, 0).substr(0, 10), name.substr(0, 10));
  EXPECT_EQ(NameOf(trace, "thread_name", 7, 0), "compute");
  EXPECT_EQ(NameOf(trace, "thread_name", 7, 1), "compute 2");
  EXPECT_EQ(NameOf(trace, "thread_name", 7, 1000 * kServerLane), "server");
}

TEST(ChromeTrace, TellsOfEveryProcessWhatItCovers) {
  ProcessTrace full = Process("worker 0", 0, {Span(0, 1), Span(2, 3)});
  full.spans[1].step = 19;
  full.clock = ClockCorrection({{0, 5'000'000, 30'000}});
  ProcessTrace cut = full;
  cut.name = "worker 1";
  cut.dropped = 7;
  const json other =
      Parsed({full, cut, Process("server 0", 2, {})}, {{"status", "failed"}}).at("otherData");
  EXPECT_EQ(other.at("status"), "failed");
  EXPECT_EQ(other.at("dropped_spans"), 7);
  EXPECT_EQ(other.at("processes").size(), 3);
  const json& first = other.at("processes").at(0);
  EXPECT_EQ(first.at("spans"), 2);
  EXPECT_EQ(first.at("covered_steps"), json({17, 19}));
  EXPECT_EQ(first.at("clock"), json::parse(R"({"shared": false, "readings":
      [{"offset_us": 5000.0, "uncertainty_us": 30.0}]})"));
  EXPECT_EQ(other.at("processes").at(1).at("covered_steps"), json({17, 18}))
      << "of the last step spans may be missing";
  EXPECT_TRUE(other.at("processes").at(2).at("covered_steps").is_null());
}

TEST(ChromeTrace, OfNothingIsATraceToo) {
  EXPECT_EQ(Parsed({}).at("traceEvents").size(), 0);
  EXPECT_EQ(EventsOf(Parsed({Process("worker 0", 0, {})}), "M").size(), 2U);
}

TEST(PackedSpans, ComeBackOnTheCoordinatorsClock) {
  using Clock = Timeline::Clock;
  const auto at = [](std::int64_t ns) { return Clock::time_point(std::chrono::nanoseconds(ns)); };
  const std::vector<TimelineSpan> spans{{at(1000), at(3000), 5, 2, kServerLane, SpanKind::kCodec},
                                        {at(4000), at(4000), 6, -1, 0, SpanKind::kData}};
  const ClockCorrection clock({{0, 500'000, 1}});
  const std::string packed = PackSpans(spans);
  const std::vector<TraceSpan> back = UnpackSpans(packed, clock);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[0].begin, 501'000);
  EXPECT_EQ(back[0].end, 503'000);
  EXPECT_EQ(back[0].step, 5);
  EXPECT_EQ(back[0].bucket, 2);
  EXPECT_EQ(back[0].lane, kServerLane);
  EXPECT_EQ(back[0].kind, SpanKind::kCodec);
  EXPECT_EQ(back[1].bucket, -1);
}

TEST(PackedSpans, GarbageIsLeftOut) {
  std::mt19937 random(5);
  std::string garbage(32 * 200 + 7, '\0');
  for (char& byte : garbage) byte = static_cast<char>(random());
  std::vector<ProcessTrace> processes{Process("worker 0", 0, UnpackSpans(garbage, {}))};
  ExpectWellFormed(Parsed(processes));
  std::string torn = PackSpans({{}, {}});
  torn.resize(torn.size() - 1);
  EXPECT_EQ(UnpackSpans(torn, {}).size(), 1U);
}

}  // namespace
}  // namespace ringside
