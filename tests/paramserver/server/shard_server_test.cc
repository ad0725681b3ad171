// Tests waiting pushes: when an update fails half-way, when more pushes arrive, when all are
// refused.
#include "ringside/paramserver/server/shard_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/paramserver/server/fakes.h"

namespace ringside {
namespace {

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
  shard.RefuseAll({});
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
  shard.RefuseAll({});
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

TEST(RefusedShard, RefusesWhatComesLaterTheSameWay) {
  const Schedule schedule({.base = 1.0});
  Timeline timeline;
  ShardServer shard({.elements = 2, .leads = true}, 2, OptimizerOptions{},
                    MakeSynchronous(2, schedule), timeline);
  shard.Start(0);
  shard.Load(0, OwnedPayload(std::vector<float>{0, 0}));
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  FakeReply first, second, again;
  shard.Push({.worker = 0}, Ones(), first, deadline);
  shard.RefuseAll({RefusalCode::kLate, "worker 1 did not push", "worker 1"});
  ASSERT_TRUE(first.refusal.has_value());
  shard.RefuseAll({RefusalCode::kAborted, "another reason", {}});
  const auto refusal = [](const auto& call) {
    try {
      call();
    } catch (const RefusedError& error) {
      return error.refusal().message;
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal([&] { shard.Push({.worker = 1}, Ones(), second, deadline); }),
            "worker 1 did not push");
  EXPECT_EQ(refusal([&] { shard.Push({.repeats = 1}, Ones(), again, deadline); }),
            "worker 1 did not push");
  EXPECT_EQ(refusal([&] { shard.Pull(); }), "worker 1 did not push");
  EXPECT_EQ(shard.counters().waiting, 0);
  EXPECT_EQ(shard.counters().updates, 0);
}

}  // namespace
}  // namespace ringside
