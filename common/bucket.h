#ifndef RINGSIDE_COMMON_BUCKET_H_
#define RINGSIDE_COMMON_BUCKET_H_

#include <cstdint>
#include <span>

#include "common/bucket_plan.h"
#include "common/flat_space.h"

namespace ringside {

enum class Device { kCpu, kCuda };

/// One bucket of one step: a borrowed view into the `FlatSpace`.
struct Bucket {
  int index = 0;          ///< In plan order, 0 <= index < plan.buckets().
  std::int64_t step = 0;  ///< 0-based global step whose gradient this is.
  std::span<float> params;
  std::span<float> grads;
  Device device = Device::kCpu;
};

inline Bucket MakeBucket(const FlatSpace& space, const BucketPlan& plan, int index,
                         std::int64_t step) {
  const BucketPlan::Range& range = plan.range(index);
  return {index, step, space.params().subspan(range.begin, range.size()),
          space.grads().subspan(range.begin, range.size()), Device::kCpu};
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BUCKET_H_
