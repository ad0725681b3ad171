#include "ringside/common/training/bucket_tracker.h"

#include <algorithm>
#include <cstddef>

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
  strategy_->Await(MakeBucket(space_, plan_, bucket, step_));
  awaited = 1;
}

void BucketTracker::TensorReady(int tensor) {
  for (int bucket = plan_.first_bucket(tensor); bucket <= plan_.last_bucket(tensor); ++bucket) {
    if (--missing_[static_cast<std::size_t>(bucket)] == 0) {
      strategy_->Submit(MakeBucket(space_, plan_, bucket, step_));
    }
  }
}

}  // namespace ringside
