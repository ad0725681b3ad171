#ifndef RINGSIDE_COMMON_TRAINING_BUCKET_TRACKER_H_
#define RINGSIDE_COMMON_TRAINING_BUCKET_TRACKER_H_

#include <cstdint>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/strategy.h"

namespace ringside {

/// Translates between a model's tensors and a strategy's buckets. Submits a bucket when its last
/// tensor is ready, and awaits the buckets of a tensor before the tensor is read. Used by one
/// thread. Borrows all its arguments.
class BucketTracker {
 public:
  BucketTracker(const FlatSpace& space, const BucketPlan& plan);

  /// Begins a step: no tensor is ready.
  void BeginStep(std::int64_t step, Strategy& strategy);
  /// Called before tensor i is read in the forward pass. Cheap if its buckets were already awaited
  /// in this step.
  void AwaitTensor(int tensor);
  /// Awaits all buckets that were not yet awaited in this step.
  void AwaitAll();
  /// The gradient of tensor i is final. Called once per step for each tensor.
  void TensorReady(int tensor);

 private:
  void AwaitBucket(int bucket);
  void SubmitBucket(int bucket);

  const FlatSpace& space_;
  const BucketPlan& plan_;
  Strategy* strategy_ = nullptr;
  std::int64_t step_ = 0;
  std::vector<int> tensors_of_bucket_;
  std::vector<int> missing_;   // per bucket, tensors not ready yet
  std::vector<char> awaited_;  // per bucket
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_BUCKET_TRACKER_H_
