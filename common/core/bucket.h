#ifndef RINGSIDE_COMMON_CORE_BUCKET_H_
#define RINGSIDE_COMMON_CORE_BUCKET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"

namespace ringside {

/// Where values lie.
enum class Device : std::uint8_t {
  kCpu,   ///< In host memory.
  kCuda,  ///< In the memory of the worker's GPU: the host must not read or write there.
};

/// One bucket of one step: a borrowed view into the `FlatSpace`, with its position there. On a GPU
/// it is a view into the vectors there, which have the same positions.
struct Bucket {
  int index = 0;           ///< In plan order, 0 <= index < plan.buckets().
  std::int64_t step = 0;   ///< 0-based global step whose gradient this is.
  std::size_t offset = 0;  ///< Position of its first element in the flat vectors, in elements.
  std::span<float> params;
  std::span<float> grads;
  Device device = Device::kCpu;  ///< Of both spans.
};

inline Bucket MakeBucket(const FlatSpace& space, const BucketPlan& plan, int index,
                         std::int64_t step) {
  const BucketPlan::Range& range = plan.range(index);
  return {index,
          step,
          range.begin,
          space.params().subspan(range.begin, range.size()),
          space.grads().subspan(range.begin, range.size()),
          Device::kCpu};
}

/// "bucket 3, step 17", for errors.
std::string BucketName(const Bucket& bucket);

/// Throws `InternalError` that names the bucket unless `bucket` is one that `MakeBucket` makes of
/// this space and this plan, or the same bucket on a GPU, whose addresses are not compared.
void CheckBucket(const Bucket& bucket, const FlatSpace& space, const BucketPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_BUCKET_H_
