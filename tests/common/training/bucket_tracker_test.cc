#include "ringside/common/training/bucket_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LoggingStrategy : public Strategy {
 public:
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket& bucket) override { Log("submit", bucket); }
  void Await(const Bucket& bucket) override { Log("await", bucket); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

  std::vector<std::string> Take() { return std::exchange(log_, {}); }
  const Bucket& last() const { return last_; }

 private:
  void Log(const std::string& verb, const Bucket& bucket) {
    log_.push_back(verb + " " + std::to_string(bucket.index) + " of step " +
                   std::to_string(bucket.step));
    last_ = bucket;
  }

  std::vector<std::string> log_;
  Bucket last_;
};

// Buckets of 16 floats: tensors 0 and 1 share bucket 0, tensor 2 spans buckets 1 and 2, tensor 3 is
// empty, tensor 4 is alone.
class BucketTrackerTest : public ::testing::Test {
 protected:
  const std::vector<TensorSpec> tensors_{{"a", 8}, {"b", 8}, {"c", 32}, {"d", 0}, {"e", 16}};
  const BucketPlan plan_{tensors_, {.target_bytes = 64, .first_bytes = 64}};
  FlatSpace space_{plan_.elements()};
  LoggingStrategy strategy_;
  BucketTracker tracker_{space_, plan_};
};

TEST_F(BucketTrackerTest, SubmitsABucketWhenItsLastTensorIsReady) {
  tracker_.BeginStep(7, strategy_);
  tracker_.TensorReady(1);
  EXPECT_THAT(strategy_.Take(), IsEmpty());
  tracker_.TensorReady(0);
  EXPECT_THAT(strategy_.Take(), ElementsAre("submit 0 of step 7"));
}

TEST_F(BucketTrackerTest, SubmitsAllPiecesOfALargeTensor) {
  tracker_.BeginStep(0, strategy_);
  tracker_.TensorReady(2);
  EXPECT_THAT(strategy_.Take(), ElementsAre("submit 1 of step 0", "submit 2 of step 0"));
}

TEST_F(BucketTrackerTest, AnEmptyTensorSubmitsNothing) {
  tracker_.BeginStep(0, strategy_);
  tracker_.TensorReady(3);
  tracker_.AwaitTensor(3);
  EXPECT_THAT(strategy_.Take(), IsEmpty());
}

TEST_F(BucketTrackerTest, AwaitsABucketOnceAStep) {
  tracker_.BeginStep(3, strategy_);
  tracker_.AwaitTensor(0);
  tracker_.AwaitTensor(1);
  tracker_.AwaitTensor(2);
  EXPECT_THAT(strategy_.Take(),
              ElementsAre("await 0 of step 3", "await 1 of step 3", "await 2 of step 3"));
  tracker_.AwaitAll();
  EXPECT_THAT(strategy_.Take(), ElementsAre("await 3 of step 3"));
}

TEST_F(BucketTrackerTest, EveryStepBeginsAfresh) {
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::string of = " of step " + std::to_string(step);
    tracker_.BeginStep(step, strategy_);
    tracker_.AwaitTensor(4);
    tracker_.TensorReady(0);
    tracker_.TensorReady(1);
    EXPECT_THAT(strategy_.Take(), ElementsAre("await 3" + of, "submit 0" + of));
  }
}

TEST_F(BucketTrackerTest, BucketsAreViewsOfTheFlatSpace) {
  tracker_.BeginStep(0, strategy_);
  tracker_.TensorReady(4);
  EXPECT_EQ(strategy_.last().params.data(), space_.params().data() + 48);
  EXPECT_EQ(strategy_.last().grads.data(), space_.grads().data() + 48);
  EXPECT_EQ(strategy_.last().params.size(), 16U);
}

}  // namespace
}  // namespace ringside
