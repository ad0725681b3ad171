#include "ringside/ring/strategies/diloco.h"

#include <algorithm>

namespace ringside {

void Diloco::Start(const FlatSpace& space, const BucketPlan&) {
  origin_params_.assign(space.params().begin(), space.params().end());
  outer_ = Optimizer::Make({.kind = OptimizerOptions::Kind::kSgd,
                            .momentum = outer_momentum_,
                            .nesterov = outer_momentum_ > 0},
                           space.size());
}

std::vector<StateVector> Diloco::State() {
  std::vector<StateVector> state = PeriodicRule::State();
  state.push_back({.name = "outer-origin", .values = origin_params_, .shared = true});
  if (outer_->state_size() > 0) {
    state.push_back({.name = "outer-momentum", .values = outer_->state(), .shared = true});
  }
  return state;
}

FlatVector Diloco::BeginSync(const Bucket& bucket) {
  const float* origin = origin_params_.data() + bucket.offset;
  for (std::size_t i = 0; i < bucket.params.size(); ++i) {
    bucket.grads[i] = origin[i] - bucket.params[i];
  }
  return FlatVector::kGrads;
}

void Diloco::EndSync(const Bucket& bucket) {
  Average(bucket.grads);
  const auto origin = std::span(origin_params_).subspan(bucket.offset, bucket.params.size());
  outer_->Apply(bucket.offset, origin, bucket.grads, {.number = 1, .learning_rate = outer_lr_});
  std::ranges::copy(origin, bucket.params.begin());
}

}  // namespace ringside
