// Tests pushes that come again because their connection was lost.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ringside/paramserver/server/shard_server.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/wire/wire.h"
#include "tests/paramserver/server/fakes.h"

namespace ringside {
namespace {

/// Two workers push ones. The connection of worker 0 is lost, and it pushes again over another one.
class PushAgainTest : public ::testing::Test {
 protected:
  void Start(std::unique_ptr<Consistency> consistency) {
    shard_.emplace(PlanInfo::ServedSlice{.elements = 2, .leads = true}, 2, OptimizerOptions{},
                   std::move(consistency), timeline_);
    shard_->Start(0);
    shard_->Load(0, OwnedPayload(std::vector<float>{0, 0}));
  }
  void StartSynchronous() { Start(MakeSynchronous(2, schedule_)); }

  void Push(int worker, FakeReply& reply, std::uint8_t repeats = 0) {
    shard_->Push({.worker = worker, .repeats = repeats}, Ones(), reply, Later());
  }
  bool Lose(FakeReply& reply) {
    return shard_->CancelPush(reply, Deadline::After(ShardTable::kGoneGrace));
  }
  bool GoneAfter(std::chrono::milliseconds time) {
    return shard_->Expired(Deadline::Clock::now() + time).has_value();
  }
  static Deadline Later() { return Deadline::After(kPatience); }
  std::vector<std::unique_ptr<Consistency>> Consistencies() const {
    std::vector<std::unique_ptr<Consistency>> all;
    all.push_back(MakeSynchronous(2, schedule_));
    all.push_back(MakeAsynchronous(2, schedule_, {}));
    all.push_back(MakeAsynchronous(2, schedule_, {.staleness_bound = 0}));
    return all;
  }

  static constexpr std::chrono::seconds kPatience{10};
  const Schedule schedule_{{.base = 1.0}};
  Timeline timeline_;
  std::optional<ShardServer> shard_;
  FakeReply lost_, again_, other_;
};

TEST_F(PushAgainTest, CountsOnceIfItWaited) {
  StartSynchronous();
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  Push(0, again_, 1);
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(again_.first_parameter, -2.0F) << "one gradient of each worker";
  EXPECT_EQ(other_.first_parameter, -2.0F);
  EXPECT_EQ(shard_->counters().updates, 1);
  EXPECT_FALSE(GoneAfter(kPatience - std::chrono::seconds(1)));
}

TEST_F(PushAgainTest, IsAnsweredAtOnceIfItsUpdateWasApplied) {
  StartSynchronous();
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  Push(1, other_);
  EXPECT_EQ(other_.first_parameter, -2.0F);
  Push(0, again_, 1);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(again_.version, 1);
  EXPECT_EQ(again_.first_parameter, -2.0F);
  EXPECT_EQ(lost_.sent, 0);
}

TEST_F(PushAgainTest, IsAnsweredOnceMoreIfTheAnswerWasLost) {
  for (std::unique_ptr<Consistency>& consistency : Consistencies()) {
    FakeReply lost, again, other;
    Start(std::move(consistency));
    Push(0, lost);
    Push(1, other);
    ASSERT_EQ(lost.sent, 1);
    const std::int64_t updates = shard_->counters().updates;
    Push(0, again, 1);
    EXPECT_EQ(again.sent, 1);
    EXPECT_EQ(again.first_parameter, -2.0F);
    EXPECT_EQ(shard_->counters().updates, updates);
    EXPECT_EQ(shard_->counters().waiting, 0);
  }
}

TEST_F(PushAgainTest, TakesThePlaceOfAReplyWhoseConnectionSeemsToStand) {
  StartSynchronous();
  Push(0, lost_);
  Push(0, again_, 1);
  ASSERT_TRUE(lost_.refusal.has_value()) << "its call must end";
  EXPECT_FALSE(Lose(lost_)) << "the shard no longer knows it";
  Push(1, other_);
  EXPECT_EQ(lost_.sent, 0);
  EXPECT_EQ(again_.sent, 1);
}

TEST_F(PushAgainTest, IsANewPushIfTheFirstOneNeverArrived) {
  StartSynchronous();
  Push(0, again_, 1);
  Push(1, other_);
  EXPECT_EQ(again_.first_parameter, -2.0F);
}

TEST_F(PushAgainTest, IsRefusedIfItDoesNotSaySo) {
  StartSynchronous();
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  EXPECT_THROW(Push(0, again_), RefusedError);
}

TEST_F(PushAgainTest, AnOlderPushIsRefusedAlsoAsARepeat) {
  Start(MakeAsynchronous(2, schedule_, {}));
  Push(0, lost_);
  shard_->Push({.worker = 0, .step = 1, .version = 1}, Ones(), other_, Later());
  EXPECT_THROW(Push(0, again_, 1), RefusedError);
  EXPECT_EQ(shard_->counters().updates, 2);
}

TEST_F(PushAgainTest, ALateRepeatDoesNotTakeThePlaceOfALaterOne) {
  StartSynchronous();
  FakeReply late;
  Push(0, lost_);
  Push(0, again_, 2);
  try {
    Push(0, late, 1);
    FAIL() << "its connection was lost before the other repeat was sent";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.refusal().code, RefusalCode::kDuplicate);
  }
  EXPECT_FALSE(again_.refusal.has_value()) << "the call that lives";
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(again_.first_parameter, -2.0F);
  EXPECT_EQ(late.sent, 0);
}

TEST_F(PushAgainTest, OneRepeatThatComesTwiceIsTakenOnce) {
  StartSynchronous();
  FakeReply copy;
  Push(0, lost_);
  Push(0, again_, 1);
  EXPECT_THROW(Push(0, copy, 1), RefusedError);
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_FALSE(again_.refusal.has_value());
}

TEST_F(PushAgainTest, RepeatsThatAreNoLongerCountedAreTaken) {
  StartSynchronous();
  FakeReply before;
  Push(0, lost_);
  Push(0, before, FrameHeader::kMostRepeats);
  Push(0, again_, FrameHeader::kMostRepeats);
  EXPECT_TRUE(before.refusal.has_value());
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
}

TEST_F(PushAgainTest, ALateRepeatIsRefusedAlsoAfterTheAnswer) {
  StartSynchronous();
  FakeReply late;
  Push(0, lost_);
  Push(0, again_, 2);
  Push(1, other_);
  EXPECT_THROW(Push(0, late, 1), RefusedError);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(late.sent, 0);
}

TEST_F(PushAgainTest, ALateRepeatDoesNotBringBackAWorkerThatIsGone) {
  StartSynchronous();
  FakeReply late, last;
  Push(0, lost_);
  Push(0, again_, 2);
  EXPECT_TRUE(Lose(again_));
  EXPECT_THROW(Push(0, late, 1), RefusedError);
  EXPECT_TRUE(GoneAfter(2 * ShardTable::kGoneGrace));
  Push(0, last, 3);
  EXPECT_FALSE(GoneAfter(2 * ShardTable::kGoneGrace));
  Push(1, other_);
  EXPECT_EQ(last.sent, 1);
}

TEST_F(PushAgainTest, ALateRepeatIsRefusedAlsoIfTheLaterOneWasTakenAsNew) {
  StartSynchronous();
  FakeReply late;
  Push(0, again_, 3);
  EXPECT_THROW(Push(0, late, 1), RefusedError);
  EXPECT_THROW(Push(0, lost_), RefusedError) << "the first one";
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(again_.first_parameter, -2.0F);
}

TEST_F(PushAgainTest, WaitsForTheBoundAsTheFirstOneDid) {
  Start(MakeAsynchronous(2, schedule_, {.staleness_bound = 0}));
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  Push(0, again_, 1);
  EXPECT_EQ(again_.sent, 0);
  Push(1, other_);
  EXPECT_EQ(again_.sent, 1);
  EXPECT_EQ(again_.first_parameter, -2.0F);
}

TEST_F(PushAgainTest, AWorkerThatHasConnectedAgainHasMoreTime) {
  StartSynchronous();
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  EXPECT_TRUE(GoneAfter(2 * ShardTable::kGoneGrace));
  shard_->OnWorkerConnected(0, Deadline::Clock::now());
  EXPECT_FALSE(GoneAfter(2 * ShardTable::kGoneGrace));
  EXPECT_TRUE(GoneAfter(2 * ShardServer::kBackGrace));
}

TEST_F(PushAgainTest, AWorkerMayConnectBeforeItsLossIsNoticed) {
  StartSynchronous();
  Push(0, lost_);
  shard_->OnWorkerConnected(0, Deadline::Clock::now());
  EXPECT_TRUE(Lose(lost_));
  EXPECT_FALSE(GoneAfter(2 * ShardTable::kGoneGrace));
}

TEST_F(PushAgainTest, AWorkerThatLeavesAfterItsFirstConnectionIsSoonGone) {
  StartSynchronous();
  shard_->OnWorkerConnected(0, Deadline::Clock::now());
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  EXPECT_TRUE(GoneAfter(2 * ShardTable::kGoneGrace));
}

}  // namespace
}  // namespace ringside
