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
#include "ringside/paramserver/wire/checksum.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

/// Arrives well and cannot be read.
class UnreadablePayload : public Payload {
 public:
  std::span<const Piece> pieces() const override { throw InternalError("out of memory"); }
};

class FakeReply : public PendingReply {
 public:
  void Send(ParameterReply answer) override {
    ++sent;
    version = answer.version;
    first_parameter = answer.parameters.values()[0];
  }
  void Refuse(const Refusal& with) override { refusal = with; }

  int sent = 0;
  std::int64_t version = 0;
  float first_parameter = 0;
  std::optional<Refusal> refusal;
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

std::unique_ptr<const Payload> Ones() {
  return std::make_unique<OwnedPayload>(std::vector<float>{1, 1});
}

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

  void Push(int worker, FakeReply& reply, bool again = false) {
    shard_->Push({.worker = worker, .again = again}, Ones(), reply, Later());
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
  Push(0, again_, true);
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
  Push(0, again_, true);
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
    Push(0, again, true);
    EXPECT_EQ(again.sent, 1);
    EXPECT_EQ(again.first_parameter, -2.0F);
    EXPECT_EQ(shard_->counters().updates, updates);
    EXPECT_EQ(shard_->counters().waiting, 0);
  }
}

TEST_F(PushAgainTest, TakesThePlaceOfAReplyWhoseConnectionSeemsToStand) {
  StartSynchronous();
  Push(0, lost_);
  Push(0, again_, true);
  ASSERT_TRUE(lost_.refusal.has_value()) << "its call must end";
  EXPECT_FALSE(Lose(lost_)) << "the shard no longer knows it";
  Push(1, other_);
  EXPECT_EQ(lost_.sent, 0);
  EXPECT_EQ(again_.sent, 1);
}

TEST_F(PushAgainTest, IsANewPushIfTheFirstOneNeverArrived) {
  StartSynchronous();
  Push(0, again_, true);
  Push(1, other_);
  EXPECT_EQ(again_.first_parameter, -2.0F);
}

TEST_F(PushAgainTest, IsRefusedWithoutTheMark) {
  StartSynchronous();
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  EXPECT_THROW(Push(0, again_), RefusedError);
}

TEST_F(PushAgainTest, AnOlderPushIsRefusedEvenWithTheMark) {
  Start(MakeAsynchronous(2, schedule_, {}));
  Push(0, lost_);
  shard_->Push({.worker = 0, .step = 1, .version = 1}, Ones(), other_, Later());
  EXPECT_THROW(Push(0, again_, true), RefusedError);
  EXPECT_EQ(shard_->counters().updates, 2);
}

TEST_F(PushAgainTest, WaitsForTheBoundAsTheFirstOneDid) {
  Start(MakeAsynchronous(2, schedule_, {.staleness_bound = 0}));
  Push(0, lost_);
  EXPECT_TRUE(Lose(lost_));
  Push(0, again_, true);
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

/// The table of the only server. It has one slice, of two parameters that are 0.
class StartedTableTest : public ::testing::Test {
 protected:
  void StartTable(int workers, ShardTable::MakeConsistency make_consistency,
                  const StrategyOptions& options = {}) {
    table_.emplace(ServerContext{.index = 0,
                                 .servers = 1,
                                 .workers = workers,
                                 .store = store_,
                                 .comm = comm_,
                                 .optimizer = optimizer_,
                                 .schedule = schedule_,
                                 .timeline = timeline_,
                                 .options = options,
                                 .drops_lost_workers = true},
                   std::move(make_consistency));
    table_->Start({.worker = 0,
                   .workers = static_cast<std::uint32_t>(workers),
                   .server = 0,
                   .servers = 1,
                   .fingerprint = 1,
                   .step = 0,
                   .slices = {{.elements = 2, .leads = true}}});
    table_->Load({.kind = FrameKind::kLoad, .payload_bytes = 8},
                 OwnedPayload(std::vector<float>{0, 0}));
  }

  InProcessStore store_;
  const CommOptions comm_;
  const OptimizerOptions optimizer_;
  const Schedule schedule_{{.base = 1.0}};
  Timeline timeline_;
  std::optional<ShardTable> table_;
  FakeReply first_, second_;
};

class DroppedWorkerTest : public StartedTableTest {
 protected:
  void Start(ShardTable::MakeConsistency make_consistency) {
    StartTable(3, std::move(make_consistency));
  }

  static FrameHeader PushOf(std::uint32_t worker) { return {.worker = worker, .payload_bytes = 8}; }

  RefusalCode CodeOfPush(std::uint32_t worker) {
    FakeReply reply;
    try {
      table_->Push(PushOf(worker), Ones(), reply);
    } catch (const RefusedError& error) {
      EXPECT_EQ(error.refusal().culprit, "worker " + std::to_string(worker));
      return error.refusal().code;
    }
    ADD_FAILURE() << "the push was not refused";
    return RefusalCode::kAborted;
  }
};

class CheckedPushTest : public StartedTableTest {
 protected:
  void SetUp() override {
    StrategyOptions options;
    options.Set(kCheckPushes, true);
    StartTable(
        2, [this] { return MakeSynchronous(2, schedule_); }, options);
  }

  static FrameHeader PushOf(std::uint32_t worker) {
    FrameHeader header{.worker = worker, .payload_bytes = 8};
    header.checksum = ChecksumOf(header, Ones()->pieces());
    return header;
  }

  /// What the refusal of this push says; empty: it was not refused.
  std::string Refused(const FrameHeader& header, PayloadPtr gradient) {
    FakeReply reply;
    try {
      table_->Push(header, std::move(gradient), reply);
    } catch (const RefusedError& error) {
      EXPECT_EQ(error.refusal().code, RefusalCode::kInvalid);
      EXPECT_EQ(error.refusal().culprit, "worker 1");
      return error.refusal().message;
    }
    return "";
  }
};

TEST_F(CheckedPushTest, IsRefusedAfterAChangeAndCountsWithoutOne) {
  table_->Push(PushOf(0), Ones(), first_);
  EXPECT_THAT(Refused(PushOf(1), std::make_unique<OwnedPayload>(std::vector<float>{1, 1.5F})),
              HasSubstr("worker 1 of slice 0 of bucket 0, step 0 arrived with another checksum"));
  FrameHeader header = PushOf(1);
  header.version = 1;
  EXPECT_THAT(Refused(header, Ones()), HasSubstr("arrived with another checksum"));
  header = PushOf(1);
  header.checksum.reset();
  EXPECT_THAT(Refused(header, Ones()), HasSubstr("has no checksum"));
  EXPECT_EQ(table_->counters().updates, 0);
  EXPECT_EQ(first_.sent, 0);
  table_->Push(PushOf(1), Ones(), second_);
  EXPECT_EQ(table_->counters().updates, 1);
  EXPECT_EQ(first_.sent, 1);
  EXPECT_EQ(second_.sent, 1);
}

TEST_F(CheckedPushTest, IsNotReadAgainWhenItWasTakenBefore) {
  table_->Push(PushOf(0), Ones(), first_);
  FrameHeader again = PushOf(0);
  again.again = true;
  table_->Push(again, std::make_unique<OwnedPayload>(std::vector<float>{9, 9}), second_);
  EXPECT_TRUE(first_.refusal.has_value());
  FakeReply other;
  table_->Push(PushOf(1), Ones(), other);
  EXPECT_EQ(second_.sent, 1);
  EXPECT_EQ(second_.first_parameter, -2.0F);
}

TEST_F(DroppedWorkerTest, LetsTheOthersGoOnAndIsRefusedItself) {
  Start([this] { return MakeAsynchronous(3, schedule_, {.staleness_bound = 0}); });
  table_->Push(PushOf(0), Ones(), first_);
  table_->Push(PushOf(1), Ones(), second_);
  EXPECT_EQ(first_.sent, 0);
  table_->Drop(2);
  EXPECT_EQ(first_.sent, 1);
  EXPECT_EQ(second_.sent, 1);
  EXPECT_EQ(CodeOfPush(2), RefusalCode::kDropped);
  EXPECT_THROW(table_->Pull({.kind = FrameKind::kPull, .worker = 2}), RefusedError);
  EXPECT_EQ(table_->counters().updates, 2) << "the late push is not applied";
  EXPECT_NO_THROW(table_->Pull({.kind = FrameKind::kPull, .worker = 1}));
}

TEST_F(DroppedWorkerTest, GetsARefusalForThePushThatWaits) {
  Start([this] { return MakeAsynchronous(3, schedule_, {.staleness_bound = 0}); });
  table_->Push(PushOf(2), Ones(), first_);
  table_->Drop(2);
  ASSERT_TRUE(first_.refusal.has_value());
  EXPECT_EQ(first_.refusal->code, RefusalCode::kDropped);
  EXPECT_EQ(first_.sent, 0);
  table_->Drop(2);  // again
  EXPECT_EQ(table_->counters().waiting, 0);
}

TEST_F(DroppedWorkerTest, CompletesTheUpdateThatWaitedForIt) {
  Start([this] { return MakeSynchronous(3, schedule_, 0); });
  table_->Push(PushOf(0), Ones(), first_);
  table_->Push(PushOf(1), Ones(), second_);
  EXPECT_EQ(table_->counters().updates, 0);
  table_->Drop(2);
  EXPECT_EQ(table_->counters().updates, 1);
  EXPECT_EQ(first_.sent, 1);
  EXPECT_EQ(second_.sent, 1);
}

TEST_F(DroppedWorkerTest, IsNotGoneBeforeSomebodySaysSo) {
  Start([this] { return MakeAsynchronous(3, schedule_, {.staleness_bound = 0}); });
  table_->Push(PushOf(2), Ones(), first_);
  EXPECT_TRUE(table_->OnCallCancelled(PushOf(2), first_));
  table_->FailExpired(Deadline::Clock::now() + 2 * ShardTable::kGoneGrace);
  EXPECT_NO_THROW(table_->Pull({.kind = FrameKind::kPull, .worker = 1})) << "the job goes on";
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
