// What reaches an inner strategy, and what the vectors on the "GPU" have, in the three ways in
// which a strategy uses a GPU. The GPU here is other memory of the process.
#include "ringside/common/strategy/device_strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BucketPlan TwoBuckets() {
  const std::vector<TensorSpec> tensors{{"a", 2}, {"b", 3}};
  return {tensors, {.target_bytes = 0}};
}

class FakeVectors : public DeviceVectors {
 public:
  explicit FakeVectors(const FlatSpace& space)
      : space_(space), params_(space.size(), -1), grads_(space.size(), -1) {}

  std::span<float> params() const override { return params_; }
  std::span<float> grads() const override { return grads_; }
  void CopyToDevice(FlatVector vector, std::size_t offset, std::size_t size) override {
    EXPECT_EQ(vector, FlatVector::kParams);
    std::ranges::copy(space_.params().subspan(offset, size), params_.begin() + Signed(offset));
    calls.push_back("up " + std::to_string(offset) + "+" + std::to_string(size));
  }
  void CopyToHost(FlatVector vector) override {
    EXPECT_EQ(vector, FlatVector::kParams);
    std::ranges::copy(params_, space_.params().begin());
    calls.emplace_back("down");
  }
  void HostMemoryMoved() override { calls.emplace_back("moved"); }
  void SetGradientsToHost(bool to_host) override { gradients_to_host = to_host; }
  bool GradientsAreFinite(int bucket) const override { return bucket != not_finite; }
  std::unique_ptr<Optimizer> MakeOptimizer(const OptimizerOptions&) override { return nullptr; }

  std::vector<std::string> calls;
  bool gradients_to_host = false;
  int not_finite = -1;  // a bucket

 private:
  static std::ptrdiff_t Signed(std::size_t value) { return static_cast<std::ptrdiff_t>(value); }

  const FlatSpace& space_;
  mutable std::vector<float> params_, grads_;
};

/// Keeps the buckets that it gets. Writes 5 to the parameters on the host when it starts, 6 when a
/// bucket is awaited, 7 when it settles.
class Inner : public Strategy {
 public:
  void Start(FlatSpace& space, const BucketPlan&, const StartPoint&) override {
    space_ = &space;
    std::ranges::fill(space.params(), 5);
  }
  void Submit(const Bucket& bucket) override { submitted.push_back(bucket); }
  void Await(const Bucket& bucket) override {
    awaited.push_back(bucket);
    if (bucket.device == Device::kCpu) std::ranges::fill(bucket.params, 6);
  }
  void Settle() override { std::ranges::fill(space_->params(), 7); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

  std::vector<Bucket> submitted, awaited;

 private:
  FlatSpace* space_ = nullptr;
};

class DeviceStrategyTest : public testing::Test {
 protected:
  DeviceStrategy Make(DeviceUse use) { return {inner_, vectors_, use, /*rank=*/3}; }
  Bucket Of(int index) { return MakeBucket(space_, plan_, index, /*step=*/8); }

  const BucketPlan plan_ = TwoBuckets();
  FlatSpace space_{plan_.elements()};
  FakeVectors vectors_{space_};
  Inner inner_;
};

TEST_F(DeviceStrategyTest, TheGpuBeginsWithTheParametersOfTheStart) {
  for (const DeviceUse use : {DeviceUse::kNone, DeviceUse::kUpdates, DeviceUse::kBuckets}) {
    DeviceStrategy strategy = Make(use);
    std::ranges::fill(vectors_.params(), 0.0F);
    strategy.Start(space_, plan_, {});
    EXPECT_THAT(vectors_.params(), Each(5));
    EXPECT_EQ(vectors_.gradients_to_host, use != DeviceUse::kBuckets);
  }
}

TEST_F(DeviceStrategyTest, AStartThatSharesTheSpaceIsNoted) {
  class Sharing : public Inner {
   public:
    void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override {
      Inner::Start(space, plan, from);
      space.Share("test");
    }
  } sharing;
  DeviceStrategy strategy(sharing, vectors_, DeviceUse::kNone, /*rank=*/0);
  strategy.Start(space_, plan_, {});
  EXPECT_THAT(vectors_.calls, ElementsAre("moved", "up 0+5"));
}

TEST_F(DeviceStrategyTest, BucketsOnTheGpuHaveTheSamePlaceThere) {
  DeviceStrategy strategy = Make(DeviceUse::kBuckets);
  strategy.Start(space_, plan_, {});
  strategy.Submit(Of(1));
  strategy.Await(Of(1));
  for (const Bucket& bucket : {inner_.submitted.at(0), inner_.awaited.at(0)}) {
    EXPECT_EQ(bucket.device, Device::kCuda);
    EXPECT_EQ(bucket.params.data(), vectors_.params().data() + 2);
    EXPECT_EQ(bucket.grads.data(), vectors_.grads().data() + 2);
    EXPECT_EQ(bucket.params.size(), 3U);
    EXPECT_NO_THROW(CheckBucket(bucket, space_, plan_));
  }
  EXPECT_THAT(vectors_.calls, ElementsAre("up 0+5")) << "of the start; no bucket is copied";
}

TEST_F(DeviceStrategyTest, StrategiesOfTheHostGetTheBucketsOfTheHost) {
  for (const DeviceUse use : {DeviceUse::kNone, DeviceUse::kUpdates}) {
    inner_.submitted.clear();
    DeviceStrategy strategy = Make(use);
    strategy.Start(space_, plan_, {});
    strategy.Submit(Of(0));
    EXPECT_EQ(inner_.submitted.at(0).device, Device::kCpu);
    EXPECT_EQ(inner_.submitted.at(0).grads.data(), space_.grads().data());
  }
}

TEST_F(DeviceStrategyTest, NewParametersOfTheHostGoToTheGpuOnce) {
  DeviceStrategy strategy = Make(DeviceUse::kNone);
  strategy.Start(space_, plan_, {});
  vectors_.calls.clear();
  strategy.Await(Of(0));
  EXPECT_TRUE(vectors_.calls.empty()) << "nothing was submitted";
  strategy.Submit(Of(0));
  strategy.Await(Of(0));
  strategy.Await(Of(0));
  EXPECT_THAT(vectors_.calls, ElementsAre("up 0+2"));
  EXPECT_THAT(vectors_.params(), ElementsAre(6, 6, 5, 5, 5));
}

TEST_F(DeviceStrategyTest, UpdatesOnTheGpuNeedNoCopyOfParameters) {
  DeviceStrategy strategy = Make(DeviceUse::kUpdates);
  strategy.Start(space_, plan_, {});
  vectors_.calls.clear();
  strategy.Submit(Of(0));
  strategy.Await(Of(0));
  EXPECT_TRUE(vectors_.calls.empty());
}

TEST_F(DeviceStrategyTest, AfterSettlingHostAndGpuAgree) {
  DeviceStrategy host = Make(DeviceUse::kNone);
  host.Start(space_, plan_, {});
  host.Settle();
  EXPECT_THAT(vectors_.params(), Each(7)) << "the host has the newest";
  for (const DeviceUse use : {DeviceUse::kUpdates, DeviceUse::kBuckets}) {
    DeviceStrategy strategy = Make(use);
    strategy.Start(space_, plan_, {});
    std::ranges::fill(vectors_.params(), 9.0F);
    strategy.Settle();
    EXPECT_THAT(space_.params(), Each(9)) << "the GPU has the newest";
  }
}

TEST_F(DeviceStrategyTest, AGradientOnTheGpuThatIsNotFiniteIsNotSubmitted) {
  DeviceStrategy strategy = Make(DeviceUse::kBuckets);
  strategy.Start(space_, plan_, {});
  vectors_.not_finite = 1;
  EXPECT_NO_THROW(strategy.Submit(Of(0)));
  try {
    strategy.Submit(Of(1));
    FAIL() << "expected a DivergedError";
  } catch (const DivergedError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("worker 3"), HasSubstr("bucket 1"), HasSubstr("step 8")));
  }
  EXPECT_EQ(inner_.submitted.size(), 1U);
}

}  // namespace
}  // namespace ringside
