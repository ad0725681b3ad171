#include "common/measure/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

Timeline::Clock::time_point At(nanoseconds since_epoch) {
  return Timeline::Clock::time_point(since_epoch);
}

double Microseconds(Timeline::Clock::time_point at) {
  return std::chrono::duration<double, std::micro>(at.time_since_epoch()).count();
}

std::vector<json> Events(const json& trace, const std::string& phase) {
  std::vector<json> events;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

json NameOf(const json& trace, const std::string& metadata, int lane) {
  for (const json& event : Events(trace, "M")) {
    if (event.at("name") == metadata && event.at("tid") == lane) return event.at("args").at("name");
  }
  return nullptr;
}

TEST(TimelineTest, DisabledKeepsNothing) {
  Timeline timeline;
  EXPECT_FALSE(timeline.enabled());
  timeline.Add(SpanKind::kWire, At(microseconds(1)), At(microseconds(2)), 0, 0, 1);
  { const ScopedSpan span(timeline, SpanKind::kData, 0); }
  EXPECT_EQ(timeline.dropped(), 0U);
  EXPECT_TRUE(Events(json::parse(timeline.ChromeTrace("worker 0", 0)), "X").empty());
}

TEST(TimelineTest, SpansBecomeCompleteEvents) {
  Timeline timeline(10);
  timeline.Add(SpanKind::kWire, At(nanoseconds(1'500'250)), At(nanoseconds(1'502'000)), 17, 3, 1);
  timeline.Add(SpanKind::kForward, At(microseconds(10)), At(microseconds(20)), 18, -1, 0);
  const json trace = json::parse(timeline.ChromeTrace("worker 2", 2));
  const std::vector<json> spans = Events(trace, "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0], json::parse(R"({"ph":"X","name":"wire","pid":2,"tid":1,"ts":1500.25,
                                      "dur":1.75,"args":{"step":17,"bucket":3}})"));
  EXPECT_EQ(spans[1].at("args"), json::parse(R"({"step":18})")) << "no bucket";
}

TEST(TimelineTest, ProcessAndThreadsAreNamed) {
  Timeline timeline(10);
  for (const int lane : {0, 1, 4}) {
    timeline.Add(SpanKind::kApply, At(microseconds(1)), At(microseconds(2)), 0, 0, lane);
  }
  const json trace = json::parse(timeline.ChromeTrace("server 1", 101));
  EXPECT_EQ(NameOf(trace, "process_name", 0), "server 1");
  EXPECT_EQ(NameOf(trace, "thread_name", 0), "compute");
  EXPECT_EQ(NameOf(trace, "thread_name", 1), "communication");
  EXPECT_EQ(NameOf(trace, "thread_name", 4), "lane 4");
  for (const json& event : trace.at("traceEvents")) EXPECT_EQ(event.at("pid"), 101);
}

TEST(TimelineTest, NamesAreEscaped) {
  const std::string name = "a \"quoted\" \\ name\n\x01 </script> ü";
  const json trace = json::parse(Timeline(1).ChromeTrace(name, 0));
  EXPECT_EQ(NameOf(trace, "process_name", 0), name);
}

TEST(TimelineTest, SpansPastTheCapacityAreCountedAndDropped) {
  Timeline timeline(3);
  for (int i = 0; i < 5; ++i) {
    timeline.Add(SpanKind::kReduce, At(microseconds(i)), At(microseconds(i)), i, 0, 0);
  }
  EXPECT_EQ(timeline.dropped(), 2U);
  const json trace = json::parse(timeline.ChromeTrace("worker 0", 0));
  EXPECT_EQ(Events(trace, "X").size(), 3U);
  EXPECT_EQ(trace.at("otherData").at("dropped_spans"), 2);
}

TEST(TimelineTest, ThreadsAddWithoutLosingSpans) {
  Timeline timeline(4000);
  RunRanks(4, [&](int rank) {
    for (int i = 0; i < 1000; ++i) {
      timeline.Add(SpanKind::kQueue, At(microseconds(i)), At(microseconds(i + 1)), i, rank, rank);
    }
  });
  std::vector<int> per_lane(4, 0);
  const json trace = json::parse(timeline.ChromeTrace("worker 0", 0));
  for (const json& span : Events(trace, "X")) {
    EXPECT_EQ(span.at("tid"), span.at("args").at("bucket"));
    ++per_lane[span.at("tid").get<std::size_t>()];
  }
  EXPECT_THAT(per_lane, ::testing::Each(1000));
}

TEST(TimelineTest, AScopedSpanCoversItsScope) {
  Timeline timeline(1);
  const auto before = Timeline::Clock::now();
  { const ScopedSpan span(timeline, SpanKind::kEvaluate, 5, -1, 0); }
  const auto after = Timeline::Clock::now();
  const json span = Events(json::parse(timeline.ChromeTrace("w", 0)), "X").at(0);
  const double begin_us = span.at("ts").get<double>();
  EXPECT_GE(begin_us, Microseconds(before) - 1);
  EXPECT_LE(begin_us + span.at("dur").get<double>(), Microseconds(after) + 1);
  EXPECT_EQ(span.at("name"), "evaluate");
}

TEST(TimelineTest, EveryKindHasANameOfItsOwn) {
  std::vector<std::string> names;
  for (int kind = 0; kind <= static_cast<int>(SpanKind::kCodec); ++kind) {
    names.emplace_back(SpanName(static_cast<SpanKind>(kind)));
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("unknown")));
}

}  // namespace
}  // namespace ringside
