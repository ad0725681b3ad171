// Tests what a server's table decides: updates that fail, workers that are dropped, and pushes with
// a checksum.
#include "ringside/paramserver/server/shard_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/core/store.h"
#include "ringside/paramserver/wire/checksum.h"
#include "tests/paramserver/server/fakes.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

/// The table of a server, by default of the only one. It has one slice, of two parameters that are
/// 0.
class StartedTableTest : public ::testing::Test {
 protected:
  void StartTable(int workers, ShardTable::MakeConsistency make_consistency,
                  const StrategyOptions& options = {}, int server = 0) {
    table_.emplace(ServerContext{.index = server,
                                 .servers = server + 1,
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
                   .server = static_cast<std::uint32_t>(server),
                   .servers = static_cast<std::uint32_t>(server + 1),
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

using FailingTableTest = StartedTableTest;

TEST_F(FailingTableTest, FailsTheJobInTheServersName) {
  StartTable(
      3, [this] { return MakeSynchronous(3, schedule_); }, {}, 4);
  FakeReply later;
  const auto header = [](std::uint32_t worker) {
    return FrameHeader{.kind = FrameKind::kPushPull, .worker = worker, .payload_bytes = 8};
  };
  table_->Push(header(0), Ones(), first_);
  EXPECT_THROW(table_->Push(header(1), std::make_unique<UnreadablePayload>(), second_),
               InternalError);
  ASSERT_TRUE(first_.refusal.has_value());
  EXPECT_EQ(first_.refusal->culprit, "server 4");
  EXPECT_THAT(first_.refusal->message, HasSubstr("out of memory"));
  EXPECT_FALSE(second_.refusal.has_value());
  try {
    table_->Push(header(2), Ones(), later);
    FAIL() << "the job has failed";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.refusal().message, first_.refusal->message);
  }
}

TEST_F(FailingTableTest, NoMemoryIsTakenForAPlanThatCannotBe) {
  ShardTable table({.store = store_,
                    .comm = comm_,
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

/// One worker, and a slice of 64 elements whose gradients are parts of top-k encodings.
class EncodedPushTest : public StartedTableTest {
 protected:
  static constexpr std::uint64_t kMost = 64 * sizeof(float);

  EncodedPushTest() {
    StrategyOptions options;
    ParseCodec("topk:0.1", BuiltinCodecs(), options.codec);
    table_.emplace(ServerContext{.servers = 1,
                                 .workers = 1,
                                 .store = store_,
                                 .comm = comm_,
                                 .optimizer = optimizer_,
                                 .schedule = schedule_,
                                 .timeline = timeline_,
                                 .options = options},
                   [this] { return MakeAsynchronous(1, schedule_); });
    table_->Start({.workers = 1, .servers = 1, .slices = {{.elements = 64, .leads = true}}});
    table_->Load({.kind = FrameKind::kLoad, .payload_bytes = kMost},
                 OwnedPayload(std::vector<float>(64)));
  }

  /// So many bytes that count this many kept elements, the first ones, each of them 0.
  std::string RefusalOf(std::size_t bytes, std::uint32_t kept) {
    std::vector<std::byte> payload(bytes);
    const auto count = std::as_bytes(std::span(&kept, 1));
    std::ranges::copy(count.first(std::min(count.size(), bytes)), payload.begin());
    for (std::uint16_t i = 0; i < kept && 6 + 2UL * i <= bytes; ++i) {
      std::memcpy(payload.data() + 4 + 2UL * i, &i, sizeof(i));
    }
    const FrameHeader header{.kind = FrameKind::kPushPull, .step = step_++, .payload_bytes = bytes};
    FakeReply reply;
    try {
      table_->CheckLength(header);
      table_->Push(header, std::make_unique<OwnedPayload>(payload), reply);
    } catch (const RefusedError& error) {
      return error.refusal().message;
    }
    return "taken";
  }

  std::int64_t step_ = 0;
};

TEST_F(EncodedPushTest, TakesAnyNumberOfKeptElements) {
  EXPECT_EQ(RefusalOf(4, 0), "taken");
  EXPECT_EQ(RefusalOf(24, 3), "taken");
  EXPECT_EQ(RefusalOf(4 + 41 * 6 + 2, 41), "taken");
  EXPECT_EQ(RefusalOf(kMost, 0), "taken") << "plain floats";
}

TEST_F(EncodedPushTest, RefusesALengthThatDoesNotFitTheCount) {
  EXPECT_THAT(RefusalOf(28, 3), HasSubstr("28 bytes came for an encoding of 22"));
  EXPECT_THAT(RefusalOf(20, 3), HasSubstr("20 bytes came for an encoding of 22"));
  EXPECT_THAT(RefusalOf(22, 3), HasSubstr("22 bytes came"));
  EXPECT_THAT(RefusalOf(0, 0), HasSubstr("0 bytes came for an encoding of 4"));
  EXPECT_THAT(RefusalOf(8, 0xffffffff), HasSubstr("8 bytes came"));
  EXPECT_THAT(RefusalOf(kMost + 4, 3), HasSubstr("260 bytes for a slice of 256"));
}

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

TEST_F(CheckedPushTest, ALateRepeatIsRefusedAsOneAndNotForItsChecksum) {
  FrameHeader push = PushOf(0);
  table_->Push(push, Ones(), first_);
  push.repeats = 2;
  table_->Push(push, Ones(), second_);
  push.repeats = 1;
  FakeReply late;
  try {
    table_->Push(push, std::make_unique<OwnedPayload>(std::vector<float>{9, 9}), late);
    FAIL() << "its connection was lost before the other repeat was sent";
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.refusal().code, RefusalCode::kDuplicate);
  }
  push.repeats = 3;
  FakeReply next, other;
  table_->Push(push, Ones(), next);
  table_->Push(PushOf(1), Ones(), other);
  EXPECT_EQ(second_.sent, 0);
  EXPECT_EQ(next.sent, 1);
}

TEST_F(CheckedPushTest, IsNotReadAgainWhenItWasTakenBefore) {
  table_->Push(PushOf(0), Ones(), first_);
  FrameHeader again = PushOf(0);
  again.repeats = 1;
  table_->Push(again, std::make_unique<OwnedPayload>(std::vector<float>{9, 9}), second_);
  EXPECT_TRUE(first_.refusal.has_value());
  FakeReply other;
  table_->Push(PushOf(1), Ones(), other);
  EXPECT_EQ(second_.sent, 1);
  EXPECT_EQ(second_.first_parameter, -2.0F);
}

}  // namespace
}  // namespace ringside
