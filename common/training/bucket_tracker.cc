#include "ringside/common/training/bucket_tracker.h"

#include <algorithm>
#include <cstddef>

#include "ringside/common/base/fault_point.h"

namespace ringside {

BucketTracker::BucketTracker(const FlatSpace& space, const BucketPlan& plan)
    : space_(space),
      plan_(plan),
      tensors_of_bucket_(static_cast<std::size_t>(plan.buckets()), 0),
      missing_(tensors_of_bucket_),
      awaited_(tensors_of_bucket_.size(), 0) {
  for (int tensor = 0; tensor < plan.tensors(); ++tensor) {
    for (int bucket = plan.first_bucket(tensor); bucket <= plan.last_bucket(tensor); ++bucket) {
      ++tensors_of_bucket_[static_cast<std::size_t>(bucket)];
    }
  }
}

void BucketTracker::BeginStep(std::int64_t step, Strategy& strategy) {
  step_ = step;
  strategy_ = &strategy;
  missing_ = tensors_of_bucket_;
  std::fill(awaited_.begin(), awaited_.end(), 0);
}

void BucketTracker::AwaitTensor(int tensor) {
  for (int bucket = plan_.first_bucket(tensor); bucket <= plan_.last_bucket(tensor); ++bucket)
    AwaitBucket(bucket);
}

void BucketTracker::AwaitAll() {
  for (int bucket = 0; bucket < plan_.buckets(); ++bucket) AwaitBucket(bucket);
}

void BucketTracker::AwaitBucket(int bucket) {
  char& awaited = awaited_[static_cast<std::size_t>(bucket)];
  if (awaited != 0) return;
  const Bucket view = MakeBucket(space_, plan_, bucket, step_);
  strategy_->Await(view);
  FaultPoint({.point = fault_points::kBucketAwaited,
              .step = step_,
              .bucket = bucket,
              .values = view.params});
  awaited = 1;
}

void BucketTracker::TensorReady(int tensor) {
  for (int bucket = plan_.first_bucket(tensor); bucket <= plan_.last_bucket(tensor); ++bucket) {
    if (--missing_[static_cast<std::size_t>(bucket)] == 0) SubmitBucket(bucket);
  }
}

void BucketTracker::SubmitBucket(int bucket) {
  const Bucket view = MakeBucket(space_, plan_, bucket, step_);
  FaultSite site{
      .point = fault_points::kBucketReady, .step = step_, .bucket = bucket, .values = view.grads};
  FaultPoint(site);
  strategy_->Submit(view);
  site.point = fault_points::kBucketSubmitted;
  FaultPoint(site);
}

}  // namespace ringside
