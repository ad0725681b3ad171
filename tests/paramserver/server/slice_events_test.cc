// Tests what a server writes into the timeline of a slice.
#include "ringside/paramserver/server/slice_events.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "ringside/paramserver/server/shard_server.h"
#include "tests/paramserver/server/fakes.h"

namespace ringside {
namespace {

class SliceEventsTest : public ::testing::Test {
 protected:
  Timeline timeline_{TimelineCapacity{.spans = 100, .chunks = 100}};
  const SliceEvents events_{
      timeline_, {.server = 3, .index = 7, .bucket = 1, .elements = 20, .reply_bytes = 80}};
  const Timeline::Clock::time_point begin_ = Timeline::Clock::now() - std::chrono::seconds(1);
  const PushInfo push_{.worker = 2, .step = 5, .version = 4};
};

TEST_F(SliceEventsTest, APushLastsFromItsArrival) {
  events_.AddPush(push_, 24, begin_);
  const std::vector<ChunkEvent> chunks = timeline_.TakeChunks();
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].phase, ChunkPhase::kPush);
  EXPECT_EQ(chunks[0].action, ChunkAction::kReceive);
  EXPECT_EQ(chunks[0].begin, begin_);
  EXPECT_GT(chunks[0].end, begin_);
  EXPECT_EQ(chunks[0].bytes, 24U);
  EXPECT_EQ(chunks[0].elements, 20U);
  EXPECT_EQ(chunks[0].version, 4);
  EXPECT_EQ(chunks[0].peer, 2);
}

TEST_F(SliceEventsTest, AnUpdateHasItsVersionAndNoBytes) {
  events_.AddUpdate(5, 6, -1, begin_);
  const std::vector<ChunkEvent> chunks = timeline_.TakeChunks();
  ASSERT_EQ(chunks.size(), 1U);
  EXPECT_EQ(chunks[0].action, ChunkAction::kUpdate);
  EXPECT_EQ(chunks[0].begin, begin_);
  EXPECT_GT(chunks[0].end, begin_);
  EXPECT_EQ(chunks[0].bytes, 0U);
  EXPECT_EQ(chunks[0].version, 6);
  EXPECT_EQ(chunks[0].peer, -1) << "no push completed it";
}

TEST_F(SliceEventsTest, AnAnswerIsAMomentAndSaysIfTheGradientWasDropped) {
  events_.AddAnswer(push_, 6, 2);
  events_.AddAnswer(push_, 6, -1);
  const std::vector<ChunkEvent> chunks = timeline_.TakeChunks();
  ASSERT_EQ(chunks.size(), 2U);
  for (const ChunkEvent& chunk : chunks) {
    EXPECT_EQ(chunk.phase, ChunkPhase::kPull);
    EXPECT_EQ(chunk.action, ChunkAction::kSend);
    EXPECT_EQ(chunk.begin, chunk.end);
    EXPECT_EQ(chunk.bytes, 80U);
    EXPECT_EQ(chunk.version, 6) << "of the parameters";
    EXPECT_EQ(chunk.peer, 2);
  }
  EXPECT_EQ(chunks[0].staleness, 2);
  EXPECT_EQ(chunks[1].staleness, -1);
}

TEST(SliceEvents, DoNothingWithoutATimeline) {
  Timeline timeline;
  const SliceEvents events(timeline, {});
  events.AddPush({}, 24, Timeline::Clock::now());
  events.AddUpdate(0, 0, 0, Timeline::Clock::now());
  events.AddAnswer({}, 0, 0);
  EXPECT_TRUE(timeline.TakeChunks().empty());
}

TEST(SliceEvents, OfAShardTellWhoPushedWhichVersionAndWhoWasLast) {
  const Schedule schedule({.base = 1.0});
  Timeline timeline(TimelineCapacity{.spans = 100, .chunks = 100});
  FakeReply replies[2];
  ShardServer shard({.index = 7, .elements = 2, .bucket = 1, .leads = true}, 2, OptimizerOptions{},
                    MakeSynchronous(2, schedule), timeline, {}, 3);
  shard.Start(5);
  shard.Load(0, OwnedPayload(std::vector<float>{0, 0}));
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  shard.Push({1, 5, 5}, Ones(), replies[1], deadline);
  shard.Push({0, 5, 5}, Ones(), replies[0], deadline);
  const std::vector<ChunkEvent> chunks = timeline.TakeChunks();
  ASSERT_EQ(chunks.size(), 5U);  // two pushes, the update, two answers
  for (const ChunkEvent& chunk : chunks) {
    EXPECT_EQ(chunk.server, 3);
    EXPECT_EQ(chunk.piece, 7);
    EXPECT_EQ(chunk.bucket, 1);
    EXPECT_EQ(chunk.step, 5);
    EXPECT_EQ(chunk.elements, 2U);
  }
  EXPECT_EQ(chunks[0].peer, 1);
  EXPECT_EQ(chunks[0].version, 5);
  EXPECT_EQ(chunks[1].peer, 0);
  EXPECT_EQ(chunks[2].action, ChunkAction::kUpdate);
  EXPECT_EQ(chunks[2].peer, 0) << "the last push";
  EXPECT_EQ(chunks[2].version, 6);
  EXPECT_EQ(chunks[3].phase, ChunkPhase::kPull);
  EXPECT_EQ(chunks[3].version, 6);
  EXPECT_EQ(chunks[3].staleness, 0);
  EXPECT_EQ(chunks[4].bytes, 8U);
}

}  // namespace
}  // namespace ringside
