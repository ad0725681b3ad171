// Tests waiting pushes: when an update fails half-way, and when more pushes arrive.
#include "ringside/paramserver/server/shard_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/store.h"
#include "ringside/paramserver/server/shard_table.h"
#include "tests/paramserver/server/fake_reply.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

/// Arrives well and cannot be read.
class UnreadablePayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { throw InternalError("out of memory"); }
};

/// Takes every push and answers none.
class NeverAnswers : public Consistency {
 public:
  std::int64_t Start(std::int64_t step) override { return step; }
  PushDecision OnPush(const PushInfo& push, std::int64_t) override {
    return {.order = push.worker};
  }
  std::vector<int> Missing() const override { return {}; }
};

class FailingUpdateTest : public ::testing::Test {
 protected:
  const Schedule schedule_{{.base = 1.0}};
  const OptimizerOptions optimizer_;
  Timeline timeline_;
  FakeReply first_, failing_, later_;
};

TEST_F(FailingUpdateTest, TheReplyOfThePushThatFailedIsForgotten) {
  ShardServer shard({.elements = 2, .leads = true}, 3, optimizer_, MakeSynchronous(3, schedule_),
                    timeline_);
  shard.Start(0);
  shard.Load(0, OwnedPayload(std::vector<float>{0, 0}));
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  shard.Push({0, 0, 0}, Ones(), first_, deadline);
  EXPECT_THROW(shard.Push({1, 0, 0}, std::make_unique<UnreadablePayload>(), failing_, deadline),
               InternalError);
  EXPECT_EQ(shard.counters().waiting, 1);
  EXPECT_FALSE(shard.CancelPush(failing_, deadline));
  shard.RefuseWaiting({});
  EXPECT_FALSE(failing_.refusal.has_value()) << "its caller has answered and deleted it";
  EXPECT_TRUE(first_.refusal.has_value());
}

TEST_F(FailingUpdateTest, NoLaterPushCompletesTheUpdate) {
  ShardServer shard({.elements = 2, .leads = true}, 3, optimizer_, MakeSynchronous(3, schedule_),
                    timeline_);
  shard.Start(0);
  shard.Load(0, OwnedPayload(std::vector<float>{0, 0}));
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  shard.Push({0, 0, 0}, Ones(), first_, deadline);
  EXPECT_THROW(shard.Push({1, 0, 0}, std::make_unique<UnreadablePayload>(), failing_, deadline),
               InternalError);
  EXPECT_THROW(shard.Push({2, 0, 0}, Ones(), later_, deadline), RefusedError);
  EXPECT_THROW(shard.Pull(), RefusedError);
  EXPECT_EQ(first_.sent, 0);
  EXPECT_EQ(shard.counters().updates, 0);
}

TEST_F(FailingUpdateTest, FailsTheJobInTheServersName) {
  InProcessStore store;
  const CommOptions comm;
  ShardTable table({.index = 4,
                    .servers = 5,
                    .workers = 3,
                    .store = store,
                    .comm = comm,
                    .optimizer = optimizer_,
                    .schedule = schedule_,
                    .timeline = timeline_},
                   [this] { return MakeSynchronous(3, schedule_); });
  table.Start({.worker = 0,
               .workers = 3,
               .server = 4,
               .servers = 5,
               .fingerprint = 1,
               .step = 0,
               .slices = {{.elements = 2, .leads = true}}});
  table.Load({.kind = FrameKind::kLoad, .payload_bytes = 8},
             OwnedPayload(std::vector<float>{0, 0}));
  const auto header = [](std::uint32_t worker) {
    return FrameHeader{.kind = FrameKind::kPushPull, .worker = worker, .payload_bytes = 8};
  };
  table.Push(header(0), Ones(), first_);
  EXPECT_THROW(table.Push(header(1), std::make_unique<UnreadablePayload>(), failing_),
               InternalError);
  ASSERT_TRUE(first_.refusal.has_value());
  EXPECT_EQ(first_.refusal->culprit, "server 4");
  EXPECT_THAT(first_.refusal->message, HasSubstr("out of memory"));
  EXPECT_FALSE(failing_.refusal.has_value());
  try {
    table.Push(header(2), Ones(), later_);
    FAIL() << "the job has failed";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.refusal().message, first_.refusal->message);
  }
}

TEST_F(FailingUpdateTest, NoMemoryIsTakenForAPlanThatCannotBe) {
  InProcessStore store;
  const CommOptions comm;
  ShardTable table({.store = store,
                    .comm = comm,
                    .optimizer = optimizer_,
                    .schedule = schedule_,
                    .timeline = timeline_},
                   [this] { return MakeSynchronous(1, schedule_); });
  const auto refusal = [&](std::int64_t step, std::size_t slices, std::uint64_t elements) {
    PlanInfo plan{.workers = 1, .servers = 1, .step = step};
    for (std::size_t slice = 0; slice < slices; ++slice) {
      plan.slices.push_back({.index = static_cast<std::uint32_t>(slice), .elements = elements});
    }
    try {
      table.Start(plan);
    } catch (const RefusedError& error) {
      return error.refusal().message;
    }
    return std::string("taken");
  };
  EXPECT_THAT(refusal(-1, 1, 1), HasSubstr("step -1"));
  EXPECT_THAT(refusal(std::int64_t{1} << 62, 1, 1), HasSubstr("no job begins with step"));
  EXPECT_THAT(refusal(0, 1, std::uint64_t{1} << 60), HasSubstr("larger than 2 GiB"));
  EXPECT_THAT(refusal(0, 1'000'000, 1 << 28), HasSubstr("more than this machine can hold"));
  EXPECT_EQ(refusal(0, 1, 2), "taken");
}

/// One worker, of two, pushes again before it has its answer.
void ExpectTheFirstPushIsKept(std::unique_ptr<Consistency> consistency) {
  Timeline timeline;
  ShardServer shard({.elements = 2, .leads = true}, 2, OptimizerOptions{}, std::move(consistency),
                    timeline);
  shard.Start(0);
  shard.Load(0, OwnedPayload(std::vector<float>{0, 0}));
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  FakeReply first, second;
  shard.Push({0, 0, 0}, Ones(), first, deadline);
  try {
    shard.Push({0, 1, 0}, Ones(), second, deadline);
    FAIL() << "the first push waits";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.refusal().code, RefusalCode::kDuplicate);
  }
  EXPECT_EQ(shard.counters().waiting, 1);
  shard.RefuseWaiting({});
  EXPECT_TRUE(first.refusal.has_value()) << "nobody answers it any more";
  EXPECT_FALSE(second.refusal.has_value()) << "its caller has answered and deleted it";
}

TEST(SecondPush, IsRefusedWhileTheFirstWaits) {
  const Schedule schedule({.base = 1.0});
  ExpectTheFirstPushIsKept(MakeAsynchronous(2, schedule, {.staleness_bound = 0}));
}

TEST(SecondPush, IsRefusedEvenIfItsConsistencyWouldTakeIt) {
  ExpectTheFirstPushIsKept(std::make_unique<NeverAnswers>());
}

TEST(ShardServerRecordTest, TellsWhoPushedWhichVersionAndWhoWasLast) {
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
