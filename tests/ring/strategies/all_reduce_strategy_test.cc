// Tests the strategy over a scripted collective, with one worker. Over real collectives it is
// tested in ring_strategies_test.cc.
#include "ringside/ring/strategies/all_reduce_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A collective of one worker. Its all-reduce waits for a signal and records each request.
class ScriptedCollective : public Collective {
 public:
  ScriptedCollective(std::vector<std::string>& asked, std::shared_future<void> sign)
      : asked_(asked), sign_(std::move(sign)) {}
  void AllReduceSum(const BucketMessage& message) override {
    const std::string what =
        "bucket " + std::to_string(message.bucket) + ", step " + std::to_string(message.step);
    if (asked_.empty() && entered_ != nullptr) entered_->set_value();
    if (sign_.valid()) sign_.wait();
    asked_.push_back(what);
    if (what == "bucket 2, step 0" && fail_) throw CommError("worker 9", what, "scripted");
  }
  void Broadcast(std::span<std::byte> data, int) override {
    if (data.size() != sizeof(std::uint32_t)) return;  // parameters
    traffic_.sent += data.size();
    if (named_) std::memcpy(data.data(), &*named_, sizeof(*named_));
  }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    all.assign(mine.begin(), mine.end());
  }
  Traffic traffic() const override { return traffic_; }
  std::size_t segment_bytes() const override { return segment_bytes_; }
  void TellSegments(std::size_t bytes) { segment_bytes_ = bytes; }
  /// Names this bucket as the next one, as worker 0 would.
  void Name(std::uint32_t bucket) { named_ = bucket; }
  void FailAtBucketTwo() { fail_ = true; }
  /// Fulfils `entered` when the first sum begins.
  void TellEntry(std::promise<void>& entered) { entered_ = &entered; }

 private:
  std::vector<std::string>& asked_;
  std::shared_future<void> sign_;
  std::promise<void>* entered_ = nullptr;
  std::optional<std::uint32_t> named_;
  Traffic traffic_;
  std::size_t segment_bytes_ = 0;
  bool fail_ = false;
};

TEST(AllReduceStrategyTest, TakesBucketsInPlanOrderAndNeverBlocksASubmit) {
  InProcessStore store;
  RingWorker worker(0, 1, store);
  std::vector<std::string> asked;
  std::promise<void> sign;
  {
    AllReduceStrategy strategy(worker.context, [&] {
      return std::make_unique<ScriptedCollective>(asked, sign.get_future().share());
    });
    strategy.Start(worker.space, worker.plan, {});
    for (int b = worker.plan.buckets() - 1; b >= 0; --b) {
      strategy.Submit(MakeBucket(worker.space, worker.plan, b, 0));
    }
    sign.set_value();  // all submits have returned although the collective waited
    AwaitAll(strategy, worker, 0);
    strategy.Stop();
  }
  ASSERT_EQ(asked.size(), static_cast<std::size_t>(worker.plan.buckets()));
  for (std::size_t b = 0; b < asked.size(); ++b) {
    EXPECT_EQ(asked[b], "bucket " + std::to_string(b) + ", step 0");
  }
}

TEST(AllReduceStrategyTest, UnderPriorityTheNextForwardPassComesFirst) {
  InProcessStore store;
  StrategyOptions options;
  options.order = SendOrder::kPriority;
  RingWorker worker(0, 1, store, {}, {}, options);
  std::vector<std::string> asked;
  std::promise<void> entered;
  std::promise<void> sign;
  {
    AllReduceStrategy strategy(worker.context, [&] {
      auto collective = std::make_unique<ScriptedCollective>(asked, sign.get_future().share());
      collective->TellEntry(entered);
      return collective;
    });
    strategy.Start(worker.space, worker.plan, {});
    strategy.Submit(MakeBucket(worker.space, worker.plan, 0, 0));
    entered.get_future().wait();  // the sum of bucket 0 has begun
    for (int b = 1; b < worker.plan.buckets(); ++b) {
      strategy.Submit(MakeBucket(worker.space, worker.plan, b, 0));
    }
    sign.set_value();
    AwaitAll(strategy, worker, 0);
    strategy.Stop();
  }
  EXPECT_EQ(worker.recorder.bytes_sent(), 0U) << "the names of buckets are no payload";
  std::vector<std::string> expected{"bucket 0, step 0"};
  for (int b = worker.plan.buckets() - 1; b >= 1; --b) {
    expected.push_back("bucket " + std::to_string(b) + ", step 0");
  }
  EXPECT_EQ(asked, expected);
}

TEST(AllReduceStrategyTest, TellsTheSegmentsOfItsCollectiveIfThereAreAny) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}}) {
    InProcessStore store;
    RingWorker worker(0, 1, store);
    std::vector<std::string> asked;
    AllReduceStrategy strategy(worker.context, [&] {
      auto collective = std::make_unique<ScriptedCollective>(asked, std::shared_future<void>());
      collective->TellSegments(bytes);
      return collective;
    });
    strategy.Start(worker.space, worker.plan, {});
    strategy.Stop();
    EXPECT_EQ(worker.recorder.facts().contains("segment_bytes"), bytes > 0);
    if (bytes > 0) {
      EXPECT_EQ(worker.recorder.facts().at("segment_bytes"), 4096);
    }
  }
}

TEST(AllReduceStrategyTest, KeepsAFailureForEveryLaterCall) {
  InProcessStore store;
  RingWorker worker(0, 1, store);
  std::vector<std::string> asked;
  AllReduceStrategy strategy(worker.context, [&] {
    auto collective = std::make_unique<ScriptedCollective>(asked, std::shared_future<void>());
    collective->FailAtBucketTwo();
    return collective;
  });
  strategy.Start(worker.space, worker.plan, {});
  const auto bucket = [&](int b) { return MakeBucket(worker.space, worker.plan, b, 0); };
  for (int b = 0; b < 3; ++b) strategy.Submit(bucket(b));
  EXPECT_THROW(strategy.Await(bucket(2)), CommError);
  EXPECT_THROW(strategy.Submit(bucket(3)), CommError);
  EXPECT_THROW(strategy.Await(bucket(0)), CommError);
  EXPECT_THROW(strategy.Stop(), CommError);
}

TEST(AllReduceStrategyTest, ANamedBucketThatIsNoneIsTheLeadersFault) {
  StrategyOptions options;
  options.order = SendOrder::kPriority;
  for (const std::uint32_t named : {1'000'000U, std::numeric_limits<std::uint32_t>::max()}) {
    InProcessStore store;
    RingWorker worker(0, 1, store, {}, {}, options);
    std::vector<std::string> asked;
    AllReduceStrategy strategy(worker.context, [&] {
      auto collective = std::make_unique<ScriptedCollective>(asked, std::shared_future<void>());
      collective->Name(named);
      return collective;
    });
    strategy.Start(worker.space, worker.plan, {});
    const Bucket bucket = MakeBucket(worker.space, worker.plan, 0, 0);
    strategy.Submit(bucket);
    try {
      strategy.Await(bucket);
      ADD_FAILURE() << named;
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 0");
    }
    EXPECT_TRUE(asked.empty());
  }
}

/// The message of the error that a submit throws.
std::string SubmitError(Strategy& strategy, const Bucket& bucket) {
  try {
    strategy.Submit(bucket);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(AllReduceStrategyTest, NamesABucketThatIsNotOfThePlanOrUnderWay) {
  InProcessStore store;
  RingWorker worker(0, 1, store);
  std::vector<std::string> asked;
  std::promise<void> sign;
  AllReduceStrategy strategy(worker.context, [&] {
    return std::make_unique<ScriptedCollective>(asked, sign.get_future().share());
  });
  const Bucket right = MakeBucket(worker.space, worker.plan, 1, 7);
  EXPECT_THAT(SubmitError(strategy, right), HasSubstr("before the start"));
  strategy.Start(worker.space, worker.plan, {});
  Bucket wrong = right;
  wrong.offset += 16;
  EXPECT_THAT(SubmitError(strategy, wrong), HasSubstr("bucket 1, step 7"));
  wrong = right;
  wrong.grads = wrong.grads.first(1);
  EXPECT_THAT(SubmitError(strategy, wrong), HasSubstr("bucket 1, step 7"));
  wrong = right;
  wrong.index = worker.plan.buckets();
  EXPECT_THAT(SubmitError(strategy, wrong), HasSubstr("the plan has"));
  EXPECT_EQ(SubmitError(strategy, right), "nothing");
  EXPECT_THAT(SubmitError(strategy, right), HasSubstr("bucket 1, step 7 is submitted already"));
  sign.set_value();
}

/// Fails to apply bucket 0. Holds back the sum of bucket 1 until then, so that the caller's thread
/// applies bucket 0.
class FailingRule : public UpdateRule {
 public:
  FlatVector Contribute(const Bucket& bucket, UpdateTrigger) override {
    if (bucket.index == 1) failed_.get_future().wait();
    return FlatVector::kGrads;
  }
  void Apply(const Bucket& bucket, UpdateTrigger) override {
    if (bucket.index != 0) return;
    failed_.set_value();
    throw InternalError("scripted");
  }

 private:
  std::promise<void> failed_;
};

TEST(AllReduceStrategyTest, KeepsAFailureOfItsRuleOnTheCallersThread) {
  InProcessStore store;
  RingWorker worker(0, 1, store, {.timeout = 20ms});
  std::vector<std::string> asked;
  AllReduceStrategy strategy(
      worker.context,
      [&] { return std::make_unique<ScriptedCollective>(asked, std::shared_future<void>()); },
      std::make_unique<FailingRule>());
  strategy.Start(worker.space, worker.plan, {});
  const auto bucket = [&](int b) { return MakeBucket(worker.space, worker.plan, b, 0); };
  strategy.Submit(bucket(1));
  strategy.Submit(bucket(0));
  EXPECT_THROW(strategy.Await(bucket(0)), InternalError);
  EXPECT_THROW(strategy.Await(bucket(0)), InternalError);
  EXPECT_THROW(strategy.Submit(bucket(2)), InternalError);
  EXPECT_THROW(strategy.Stop(), InternalError);
}

TEST(AllReduceStrategyTest, AwaitOfABucketBehindAMissingOneEnds) {
  InProcessStore store;
  RingWorker worker(0, 1, store, {.timeout = 20ms});
  std::vector<std::string> asked;
  AllReduceStrategy strategy(worker.context, [&] {
    return std::make_unique<ScriptedCollective>(asked, std::shared_future<void>());
  });
  strategy.Start(worker.space, worker.plan, {});
  strategy.Submit(MakeBucket(worker.space, worker.plan, 1, 0));
  EXPECT_THROW(strategy.Await(MakeBucket(worker.space, worker.plan, 1, 0)), CommError);
  // The failure stays, also for a bucket that is idle.
  EXPECT_THROW(strategy.Await(MakeBucket(worker.space, worker.plan, 2, 0)), CommError);
  EXPECT_THROW(strategy.Submit(MakeBucket(worker.space, worker.plan, 0, 0)), CommError);
  EXPECT_THROW(strategy.Stop(), CommError);
}

/// Gathers more than a rank has asked for.
class OverflowingCollective : public Collective {
 public:
  void AllReduceSum(const BucketMessage&) override {}
  void Broadcast(std::span<std::byte>, int) override {}
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    all.assign(mine.size() + 1, std::byte{0});
  }
  Traffic traffic() const override { return {}; }
};

TEST(AllReduceStrategyTest, ACollectiveThatGathersTooMuchIsAnError) {
  InProcessStore store;
  RingWorker worker(0, 1, store);
  AllReduceStrategy strategy(worker.context,
                             [] { return std::make_unique<OverflowingCollective>(); });
  try {
    strategy.Start(worker.space, worker.plan, {});
    ADD_FAILURE() << "33 bytes are no summary";
  } catch (const CommError& error) {
    EXPECT_EQ(error.operation(), "the start");
    EXPECT_THAT(error.what(), HasSubstr("33 bytes"));
  }
}

TEST(AllReduceStrategyTest, AwaitOfAnIdleBucketReturnsAtOnce) {
  InProcessStore store;
  RingWorker worker(0, 1, store);
  std::vector<std::string> asked;
  AllReduceStrategy strategy(worker.context, [&] {
    return std::make_unique<ScriptedCollective>(asked, std::shared_future<void>());
  });
  strategy.Start(worker.space, worker.plan, {});
  AwaitAll(strategy, worker, 0);
  strategy.Stop();
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace ringside
