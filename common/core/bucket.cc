#include "ringside/common/core/bucket.h"

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

bool SameSpan(std::span<const float> a, std::span<const float> b, Device device) {
  return (a.data() == b.data() || device != Device::kCpu) && a.size() == b.size();
}

}  // namespace

std::string BucketName(const Bucket& bucket) {
  return "bucket " + std::to_string(bucket.index) + ", step " + std::to_string(bucket.step);
}

void CheckBucket(const Bucket& bucket, const FlatSpace& space, const BucketPlan& plan) {
  if (bucket.index < 0 || bucket.index >= plan.buckets()) {
    throw InternalError(BucketName(bucket) + ": the plan has " + std::to_string(plan.buckets()) +
                        " buckets");
  }
  const Bucket right = MakeBucket(space, plan, bucket.index, bucket.step);
  if (bucket.offset != right.offset) {
    throw InternalError(BucketName(bucket) + " begins at element " + std::to_string(right.offset) +
                        " of the flat vectors, not at " + std::to_string(bucket.offset));
  }
  if (!SameSpan(bucket.params, right.params, bucket.device) ||
      !SameSpan(bucket.grads, right.grads, bucket.device)) {
    throw InternalError(BucketName(bucket) + ": its spans are not those of the flat vectors");
  }
}

}  // namespace ringside
