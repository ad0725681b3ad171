#include "ringside/ring/core/bucket_message.h"

#include <fmt/format.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

const BucketPlan::Range& RangeOf(const BucketMessage& message, const BucketPlan& plan) {
  if (message.bucket >= 0 && message.bucket < plan.buckets()) return plan.range(message.bucket);
  throw InternalError(fmt::format("a sum of bucket {}, step {}: the plan has {} buckets",
                                  message.bucket, message.step, plan.buckets()));
}

[[noreturn]] void ThrowWrongElements(const BucketMessage& message, const BucketPlan::Range& range) {
  throw InternalError(fmt::format(
      "a sum of bucket {}, step {} has elements {} to {} of the flat vectors; the bucket has {} to "
      "{}",
      message.bucket, message.step, message.offset, message.offset + message.data.size(),
      range.begin, range.end));
}

}  // namespace

void CheckIsBucket(const BucketMessage& message, const BucketPlan& plan) {
  const BucketPlan::Range& range = RangeOf(message, plan);
  if (message.offset == range.begin && message.data.size() == range.size()) return;
  ThrowWrongElements(message, range);
}

void CheckIsInBucket(const BucketMessage& message, const BucketPlan& plan) {
  const BucketPlan::Range& range = RangeOf(message, plan);
  if (message.offset >= range.begin && message.offset + message.data.size() <= range.end) return;
  ThrowWrongElements(message, range);
}

}  // namespace ringside
