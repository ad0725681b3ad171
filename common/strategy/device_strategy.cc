#include "ringside/common/strategy/device_strategy.h"

#include <string>

#include "ringside/common/base/errors.h"

namespace ringside {

DeviceStrategy::DeviceStrategy(Strategy& inner, DeviceVectors& vectors, DeviceUse use, int rank)
    : StrategyDecorator(inner), vectors_(vectors), use_(use), rank_(rank) {
  vectors_.SetGradientsToHost(use != DeviceUse::kBuckets);
}

void DeviceStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  submitted_.assign(static_cast<std::size_t>(plan.buckets()), 0);
  const MemoryKind before = space.memory_kind();
  inner().Start(space, plan, from);
  if (space.memory_kind() != before) vectors_.HostMemoryMoved();
  vectors_.CopyToDevice(FlatVector::kParams, 0, space.size());
}

void DeviceStrategy::Submit(const Bucket& bucket) {
  if (use_ == DeviceUse::kBuckets && !vectors_.GradientsAreFinite(bucket.index)) {
    throw DivergedError("the gradient of worker " + std::to_string(rank_) + " in bucket " +
                            std::to_string(bucket.index) + " is not finite at step " +
                            std::to_string(bucket.step),
                        rank_, bucket.step);
  }
  inner().Submit(ForInner(bucket));
  submitted_[static_cast<std::size_t>(bucket.index)] = 1;
}

void DeviceStrategy::Await(const Bucket& bucket) {
  inner().Await(ForInner(bucket));
  if (use_ != DeviceUse::kNone) return;
  char& submitted = submitted_[static_cast<std::size_t>(bucket.index)];
  if (submitted == 0) return;
  vectors_.CopyToDevice(FlatVector::kParams, bucket.offset, bucket.params.size());
  submitted = 0;
}

void DeviceStrategy::Settle() {
  inner().Settle();
  if (use_ == DeviceUse::kNone) {
    vectors_.CopyToDevice(FlatVector::kParams, 0, vectors_.params().size());
  } else {
    vectors_.CopyToHost(FlatVector::kParams);
  }
}

Bucket DeviceStrategy::ForInner(const Bucket& bucket) const {
  if (use_ != DeviceUse::kBuckets) return bucket;
  Bucket on_device = bucket;
  on_device.params = vectors_.params().subspan(bucket.offset, bucket.params.size());
  on_device.grads = vectors_.grads().subspan(bucket.offset, bucket.grads.size());
  on_device.device = Device::kCuda;
  return on_device;
}

}  // namespace ringside
