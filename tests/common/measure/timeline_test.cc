#include "ringside/common/measure/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Timeline::Clock::time_point At(microseconds since_epoch) {
  return Timeline::Clock::time_point(since_epoch);
}

void AddStep(Timeline& timeline, SpanKind kind, std::int64_t step) {
  timeline.Add(kind, At(microseconds(1)), At(microseconds(2)), step, 0, kComputeLane);
}

std::vector<std::int64_t> StepsOf(Timeline& timeline) {
  std::vector<std::int64_t> steps;
  for (const TimelineSpan& span : timeline.Take()) steps.push_back(span.step);
  return steps;
}

TEST(TimelineTest, DisabledKeepsNothing) {
  Timeline timeline;
  EXPECT_FALSE(timeline.enabled());
  AddStep(timeline, SpanKind::kWire, 0);
  { const ScopedSpan span(timeline, SpanKind::kData, 0); }
  EXPECT_EQ(timeline.dropped(), 0U);
  EXPECT_THAT(timeline.Take(), IsEmpty());
}

TEST(TimelineTest, SpansAreTakenOnceInOrder) {
  Timeline timeline(TimelineCapacity{.spans = 10});
  timeline.Add(SpanKind::kWire, At(microseconds(15)), At(microseconds(17)), 17, 3, kServerLane);
  AddStep(timeline, SpanKind::kData, 18);
  AddStep(timeline, SpanKind::kData, 19);
  const std::vector<TimelineSpan> first = timeline.Take(1);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].kind, SpanKind::kWire);
  EXPECT_EQ(first[0].begin, At(microseconds(15)));
  EXPECT_EQ(first[0].end, At(microseconds(17)));
  EXPECT_EQ(first[0].step, 17);
  EXPECT_EQ(first[0].bucket, 3);
  EXPECT_EQ(first[0].lane, kServerLane);
  EXPECT_THAT(StepsOf(timeline), ElementsAre(18, 19));
  EXPECT_THAT(StepsOf(timeline), IsEmpty());
  AddStep(timeline, SpanKind::kData, 20);
  EXPECT_THAT(StepsOf(timeline), ElementsAre(20));
}

TEST(TimelineTest, SpansPastTheCapacityAreCountedAndDropped) {
  Timeline timeline(TimelineCapacity{.spans = 3});
  for (int i = 0; i < 5; ++i) AddStep(timeline, SpanKind::kReduce, i);
  EXPECT_EQ(timeline.dropped(), 2U);
  EXPECT_THAT(StepsOf(timeline), ElementsAre(0, 1, 2));
  AddStep(timeline, SpanKind::kReduce, 9);
  EXPECT_THAT(StepsOf(timeline), IsEmpty()) << "what was taken makes no room";
  EXPECT_EQ(timeline.dropped(), 3U);
}

TEST(TimelineTest, ShowsTheStepsThatWereAskedForAndDropsNoOthers) {
  Timeline timeline(TimelineCapacity{.spans = 100}, {.first = 10, .end = 20, .every = 4});
  for (int step = 0; step < 30; ++step) AddStep(timeline, SpanKind::kAwait, step);
  EXPECT_THAT(StepsOf(timeline), ElementsAre(10, 14, 18));
  EXPECT_EQ(timeline.dropped(), 0U);
}

// Step 10 waits for the gradients of step 9.
TEST(TimelineTest, ShowsWhatAShownStepWaitsFor) {
  Timeline timeline(TimelineCapacity{.spans = 100}, {.first = 10, .end = 12});
  for (int step = 8; step < 14; ++step) {
    AddStep(timeline, SpanKind::kForward, step);
    AddStep(timeline, SpanKind::kWire, step);
  }
  EXPECT_THAT(StepsOf(timeline), ElementsAre(9, 10, 10, 11, 11));
}

TEST(TimelineTest, KeepsTheChunksOfShownStepsAndOfTheStepBefore) {
  Timeline timeline(TimelineCapacity{.spans = 1, .chunks = 3}, {.first = 10, .end = 13});
  for (int step = 8; step < 14; ++step) timeline.AddChunk({.step = step});
  std::vector<std::int64_t> steps;
  for (const ChunkEvent& chunk : timeline.TakeChunks()) steps.push_back(chunk.step);
  EXPECT_THAT(steps, ElementsAre(9, 10, 11));
  EXPECT_EQ(timeline.dropped_chunks(), 1U);
  EXPECT_EQ(timeline.dropped(), 0U);
}

// Spans are whole when they are taken while others are being added.
TEST(TimelineTest, ThreadsAddWhileSpansAreTaken) {
  constexpr int kThreads = 4;
  constexpr int kEach = 5000;
  constexpr std::size_t kSpans = std::size_t{kThreads} * kEach;
  Timeline timeline(TimelineCapacity{.spans = kSpans});
  std::atomic<bool> done{false};
  std::vector<TimelineSpan> taken;
  std::thread taker([&] {
    while (!done) {
      for (const TimelineSpan& span : timeline.Take()) taken.push_back(span);
    }
  });
  RunRanks(kThreads, [&](int rank) {
    for (int i = 0; i < kEach; ++i) {
      timeline.Add(SpanKind::kQueue, At(microseconds(i)), At(microseconds(i + 1)), i, rank, rank);
    }
  });
  done = true;
  taker.join();
  for (const TimelineSpan& span : timeline.Take()) taken.push_back(span);
  ASSERT_EQ(taken.size(), kSpans);
  std::vector<int> next(kThreads, 0);
  for (const TimelineSpan& span : taken) {
    EXPECT_EQ(span.lane, span.bucket);
    EXPECT_EQ(span.step, next[static_cast<std::size_t>(span.lane)]++);
    EXPECT_EQ(span.begin, At(microseconds(span.step)));
  }
}

TEST(TimelineTest, AScopedSpanCoversItsScope) {
  Timeline timeline(TimelineCapacity{.spans = 1});
  const auto before = Timeline::Clock::now();
  { const ScopedSpan span(timeline, SpanKind::kEvaluate, 5, -1, 0); }
  const auto after = Timeline::Clock::now();
  const TimelineSpan span = timeline.Take().at(0);
  EXPECT_GE(span.begin, before);
  EXPECT_GE(span.end, span.begin);
  EXPECT_LE(span.end, after);
  EXPECT_EQ(span.kind, SpanKind::kEvaluate);
}

template <typename Name>
void ExpectDistinct(int count, Name name) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(name(i));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_THAT(names, ::testing::Not(::testing::Contains("unknown")));
}

TEST(TimelineTest, EveryKindAndEveryLaneHasANameOfItsOwn) {
  ExpectDistinct(static_cast<int>(kLastSpanKind) + 1,
                 [](int kind) { return SpanName(static_cast<SpanKind>(kind)); });
  ExpectDistinct(kTimelineLanes, LaneName);
}

}  // namespace
}  // namespace ringside
