#include "ring/diloco.h"

#include <algorithm>
#include <cstddef>

namespace ringside {

void Diloco::Start(const FlatSpace& space, const BucketPlan& plan) {
  PeriodicRule::Start(space, plan);
  origin_params_.assign(space.params().begin(), space.params().end());
  outer_ = Optimizer::Make({.kind = OptimizerOptions::Kind::kSgd,
                            .momentum = options_.outer_momentum,
                            .nesterov = options_.outer_momentum > 0},
                           space.size());
}

std::span<float> Diloco::BeginMeeting(const Bucket& bucket) {
  const float* origin = origin_params_.data() + OffsetOf(bucket);
  for (std::size_t i = 0; i < bucket.params.size(); ++i) {
    bucket.grads[i] = origin[i] - bucket.params[i];
  }
  return bucket.grads;
}

void Diloco::EndMeeting(const Bucket& bucket) {
  Average(bucket.grads);
  const std::size_t offset = OffsetOf(bucket);
  const auto origin = std::span(origin_params_).subspan(offset, bucket.params.size());
  outer_->Apply(offset, origin, bucket.grads, {.number = 1, .learning_rate = options_.outer_lr});
  std::ranges::copy(origin, bucket.params.begin());
}

}  // namespace ringside
