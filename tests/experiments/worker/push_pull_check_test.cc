#include "ringside/experiments/worker/push_pull_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ringside/experiments/worker/timed_operation.h"

namespace ringside {
namespace {

/// A server of one worker, inside the worker, which makes errors when a test asks for them.
class FakeStrategy : public Strategy {
 public:
  enum class Wrong { kNowhere, kUntilSettled, kOnceSettled };
  explicit FakeStrategy(Wrong wrong) : wrong_(wrong) {}

  void Start(FlatSpace& space, const BucketPlan&, const StartPoint&) override {
    space_ = &space;
    truth_.assign(space.params().begin(), space.params().end());
  }
  void Submit(const Bucket& bucket) override {
    for (std::size_t i = 0; i < bucket.grads.size(); ++i) truth_[i] -= bucket.grads[i];
  }
  void Await(const Bucket&) override {
    if (wrong_ != Wrong::kUntilSettled) std::ranges::copy(truth_, space_->params().begin());
  }
  void Settle() override {
    std::ranges::copy(truth_, space_->params().begin());
    if (wrong_ == Wrong::kOnceSettled) space_->params()[0] += 1;
  }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

 private:
  const Wrong wrong_;
  FlatSpace* space_ = nullptr;
  std::vector<float> truth_;
};

std::int64_t WrongUnder(FakeStrategy::Wrong wrong, decltype(CountStepMismatches)* count) {
  const std::vector<TensorSpec> tensors{{"all", 96}};
  const BucketPlan plan(tensors, {.target_bytes = 4096, .first_bytes = 4096});
  FlatSpace space(plan.elements());
  FakeStrategy strategy(wrong);
  strategy.Start(space, plan, {});
  const World alone{.rank = 0, .workers = 1};
  return count(strategy, space, plan, alone, 0, 1);
}

TEST(PushPullCheck, FindsNothingWhereNothingIsWrong) {
  EXPECT_EQ(WrongUnder(FakeStrategy::Wrong::kNowhere, CountStepMismatches), 0);
  EXPECT_EQ(WrongUnder(FakeStrategy::Wrong::kNowhere, CountSettledMismatches), 0);
}

TEST(PushPullCheck, SettlingCoversUpForNoPull) {
  EXPECT_GT(WrongUnder(FakeStrategy::Wrong::kUntilSettled, CountStepMismatches), 90);
}

TEST(PushPullCheck, WhatSettlingBringsIsCheckedToo) {
  EXPECT_EQ(WrongUnder(FakeStrategy::Wrong::kOnceSettled, CountStepMismatches), 1);
}

TEST(PushPullCheck, WhereTheFirstToComeIsAnsweredFirstOnlySettlingCounts) {
  EXPECT_EQ(WrongUnder(FakeStrategy::Wrong::kUntilSettled, CountSettledMismatches), 0);
  EXPECT_EQ(WrongUnder(FakeStrategy::Wrong::kOnceSettled, CountSettledMismatches), 1);
}

}  // namespace
}  // namespace ringside
