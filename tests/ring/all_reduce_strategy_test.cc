// The strategy over real collectives with threads as ranks, and over a scripted one.
#include "ringside/ring/strategies/all_reduce_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "ringside/common/core/errors.h"
#include "ringside/ring/strategies/ring_strategies.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

float GradientOf(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1) * static_cast<std::int64_t>(i % 7));
}

/// Fills gradients and submits all buckets, in an order that differs by rank.
void SubmitAll(Strategy& strategy, RingWorker& worker, std::int64_t step) {
  for (std::size_t i = 0; i < worker.space.size(); ++i) {
    worker.space.grads()[i] = GradientOf(worker.world.rank, step, i);
  }
  std::vector<int> order(static_cast<std::size_t>(worker.plan.buckets()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(),
               std::mt19937(static_cast<unsigned>(worker.world.rank * 100 + step)));
  for (const int b : order) strategy.Submit(MakeBucket(worker.space, worker.plan, b, step));
}

class RingStrategyTest : public testing::TestWithParam<const StrategyEntry*> {};

constexpr std::int64_t kSteps = 4;

void ExpectTheSumOfAllGradients(const RingWorker& worker) {
  for (std::size_t i = 0; i < worker.space.size(); ++i) {
    float expected = 1000;  // rank 0's
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int each = 0; each < worker.world.workers; ++each) {
        expected -= kLearningRate * GradientOf(each, step, i);
      }
    }
    ASSERT_EQ(worker.space.params()[i], expected) << i;
  }
}

/// Runs a job of three under both orders of sums.
void RunUnderBothOrders(const StrategyEntry& entry,
                        const std::function<void(Strategy&, RingWorker&)>& steps) {
  constexpr int kWorld = 3;
  for (const SendOrder order : {SendOrder::kFifo, SendOrder::kPriority}) {
    InProcessStore store;
    RunRanks(kWorld, [&](int rank) {
      StrategyOptions options;
      options.order = order;
      RingWorker worker(rank, kWorld, store, {}, {}, options);
      std::ranges::fill(worker.space.params(), static_cast<float>(1000 + rank));
      const auto strategy = entry.make(worker.context);
      strategy->Start(worker.space, worker.plan, {});
      steps(*strategy, worker);
      strategy->Stop();
      ExpectTheSumOfAllGradients(worker);
    });
  }
}

TEST_P(RingStrategyTest, FollowsTheSumOfAllGradientsWhateverTheOrderOfSubmits) {
  RunUnderBothOrders(*GetParam(), [](Strategy& strategy, RingWorker& worker) {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      AwaitAll(strategy, worker, step);
      SubmitAll(strategy, worker, step);
    }
    AwaitAll(strategy, worker, kSteps);
  });
}

TEST_P(RingStrategyTest, ABucketMayBeAStepAheadOfOthers) {
  RunUnderBothOrders(*GetParam(), [](Strategy& strategy, RingWorker& worker) {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int b = worker.plan.buckets() - 1; b >= 0; --b) {
        const Bucket bucket = MakeBucket(worker.space, worker.plan, b, step);
        strategy.Await(bucket);  // those before it in this loop are under way already
        for (std::size_t i = 0; i < bucket.grads.size(); ++i) {
          bucket.grads[i] = GradientOf(worker.world.rank, step, worker.plan.range(b).begin + i);
        }
        strategy.Submit(bucket);
      }
    }
    AwaitAll(strategy, worker, kSteps);
  });
}

TEST_P(RingStrategyTest, CountsTheBytesThatItMoves) {
  constexpr int kWorld = 2;
  InProcessStore store;
  RunRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {});
    SubmitAll(*strategy, worker, 0);
    AwaitAll(*strategy, worker, 1);
    strategy->Stop();
    // 2(N-1)/N of the gradients, up to a float a bucket where it is not divisible.
    const auto all = static_cast<double>(worker.space.size() * sizeof(float));
    const double rounding = sizeof(float) * static_cast<double>(worker.plan.buckets());
    EXPECT_NEAR(static_cast<double>(worker.recorder.bytes_sent()), all, rounding);
    EXPECT_NEAR(static_cast<double>(worker.recorder.bytes_received()), all, rounding);
  });
}

TEST_P(RingStrategyTest, RestoresAndReadsOptimizerState) {
  constexpr int kWorld = 2;
  InProcessStore store;
  RunRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store, {}, {.momentum = 0.5});
    std::vector<float> state(worker.optimizer->state_size(), 8.0F);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {.step = 5, .optimizer_state = state});
    std::ranges::fill(worker.space.grads(), 1.0F);
    for (int b = 0; b < worker.plan.buckets(); ++b) {
      strategy->Submit(MakeBucket(worker.space, worker.plan, b, 5));
    }
    AwaitAll(*strategy, worker, 6);
    strategy->Settle();
    strategy->ReadOptimizerState(state);
    strategy->Stop();
    EXPECT_EQ(state, std::vector<float>(state.size(), 0.5F * 8 + kWorld));
  });
}

TEST_P(RingStrategyTest, NamesTheRankWhosePlanDiffers) {
  constexpr int kWorld = 3;
  InProcessStore store;
  const auto outcomes = TryRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const BucketPlan plan = rank == 1 ? TestPlan(701) : TestPlan();
    FlatSpace space(plan.elements());
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(space, plan, {});
  });
  for (const auto& failure : outcomes.by_rank) {
    try {
      ASSERT_NE(failure, nullptr);
      std::rethrow_exception(failure);
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1");
      EXPECT_THAT(error.what(), HasSubstr("plan"));
    }
  }
}

TEST_P(RingStrategyTest, APeerThatLeavesIsNamedByAllAndNobodyHangs) {
  constexpr int kWorld = 4;
  constexpr int kLeaver = 1;
  InProcessStore store;
  const auto outcomes = TryRanks(kWorld, [&](int rank) {
    RingWorker worker(rank, kWorld, store);
    const auto strategy = GetParam()->make(worker.context);
    strategy->Start(worker.space, worker.plan, {});
    SubmitAll(*strategy, worker, 0);
    AwaitAll(*strategy, worker, 1);
    if (rank == kLeaver) return;  // without Stop
    std::string first;
    try {
      SubmitAll(*strategy, worker, 1);
      AwaitAll(*strategy, worker, 2);
      ADD_FAILURE() << "worker 1 is gone";
    } catch (const CommError& error) {
      first = error.what();
      EXPECT_EQ(error.peer(), "worker 1") << error.what();
      EXPECT_THAT(error.operation(), HasSubstr("step 1"));
    }
    try {
      strategy->Stop();
      ADD_FAILURE() << "it has failed before";
    } catch (const CommError& error) {
      EXPECT_EQ(error.what(), first);
      throw;
    }
  });
  EXPECT_EQ(outcomes.failures(), kWorld - 1);
}

INSTANTIATE_TEST_SUITE_P(Gloo, RingStrategyTest,
                         testing::Values(&RingStrategy("ring"), &RingStrategy("halving-doubling"),
                                         &RingStrategy("recursive-doubling"),
                                         &RingStrategy("tree")),
                         [](const auto& entry) {
                           std::string name(entry.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// A world of one whose all-reduce waits for a sign and notes what it was asked for.
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
  /// As if worker 0 did.
  void Name(std::uint32_t bucket) { named_ = bucket; }
  void FailAtBucketTwo() { fail_ = true; }
  /// Tells when the first sum begins.
  void TellEntry(std::promise<void>& entered) { entered_ = &entered; }

 private:
  std::vector<std::string>& asked_;
  std::shared_future<void> sign_;
  std::promise<void>* entered_ = nullptr;
  std::optional<std::uint32_t> named_;
  Traffic traffic_;
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
    sign.set_value();  // all submits returned while the collective stood still
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
    entered.get_future().wait();  // it was alone, so it is under way
    for (int b = 1; b < worker.plan.buckets(); ++b) {
      strategy.Submit(MakeBucket(worker.space, worker.plan, b, 0));
    }
    sign.set_value();
    AwaitAll(strategy, worker, 0);
    strategy.Stop();
  }
  EXPECT_EQ(worker.recorder.bytes_sent(), sizeof(std::uint32_t) * asked.size())
      << "what names buckets";
  std::vector<std::string> expected{"bucket 0, step 0"};
  for (int b = worker.plan.buckets() - 1; b >= 1; --b) {
    expected.push_back("bucket " + std::to_string(b) + ", step 0");
  }
  EXPECT_EQ(asked, expected);
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

/// What a submit throws.
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
  EXPECT_THAT(SubmitError(strategy, right), HasSubstr("bucket 1 was submitted twice"));
  sign.set_value();
}

/// Cannot apply bucket 0, and holds the sum of bucket 1 until it has failed: the caller applies.
class FailingRule : public UpdateRule {
 public:
  std::span<float> Contribute(const Bucket& bucket, UpdateTrigger) override {
    if (bucket.index == 1) failed_.get_future().wait();
    return bucket.grads;
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
