#ifndef RINGSIDE_RING_CORE_BUCKET_MESSAGE_H_
#define RINGSIDE_RING_CORE_BUCKET_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_vector.h"

namespace ringside {

/// One rank's input to one sum: a bucket, or a piece of it, in one step. Borrows the data.
struct BucketMessage {
  /// The `bucket` of a sum that belongs to no bucket, such as a trial before the first step.
  static constexpr int kNoBucket = -1;

  std::span<float> data;   ///< Holds the sum afterwards.
  std::size_t offset = 0;  ///< Position of data[0] in the flat vectors, in elements.
  int bucket = kNoBucket;  ///< Index in plan order.
  std::int64_t step = 0;   ///< 0-based global step whose gradient this is.
  /// The vector that `data` lies in, at `offset`. The same on every rank.
  FlatVector vector = FlatVector::kNone;
  /// Where `data` lies. Only collectives with `CollectiveEntry::sums_on_device` get another one
  /// than host memory.
  Device device = Device::kCpu;

  /// Returns `count` elements of this message, from element `begin` on.
  BucketMessage Piece(std::size_t begin, std::size_t count) const {
    return {data.subspan(begin, count), offset + begin, bucket, step, vector, device};
  }
};

/// Throws an `InternalError` that names the bucket, unless `message` is a whole bucket of `plan`.
void CheckIsBucket(const BucketMessage& message, const BucketPlan& plan);
/// Throws the same error unless `message` is a part of a bucket of `plan`.
void CheckIsInBucket(const BucketMessage& message, const BucketPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_BUCKET_MESSAGE_H_
