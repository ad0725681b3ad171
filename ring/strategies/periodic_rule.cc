#include "ringside/ring/strategies/periodic_rule.h"

namespace ringside {

FlatVector PeriodicRule::Contribute(const Bucket& bucket, UpdateTrigger trigger) {
  const bool syncs = SyncsAfter(bucket.step);
  if (trigger == UpdateTrigger::kPause) return syncs ? FlatVector::kNone : FlatVector::kParams;
  if (!syncs) return FlatVector::kNone;
  LocalStep(bucket);
  return BeginSync(bucket);
}

void PeriodicRule::Apply(const Bucket& bucket, UpdateTrigger trigger) {
  const bool syncs = SyncsAfter(bucket.step);
  if (trigger == UpdateTrigger::kPause) {
    if (!syncs) Average(bucket.params);
  } else if (syncs) {
    EndSync(bucket);
  } else {
    LocalStep(bucket);
  }
}

std::vector<StateVector> PeriodicRule::State() {
  if (context_.optimizer.state_size() == 0) return {};
  return {{.name = "inner-optimizer", .values = context_.optimizer.state()}};
}

void PeriodicRule::LocalStep(const Bucket& bucket) {
  context_.optimizer.Apply(bucket.offset, bucket.params, bucket.grads,
                           {bucket.step + 1, context_.schedule.At(bucket.step)});
}

void PeriodicRule::Average(std::span<float> sum) const {
  const float share = 1.0F / static_cast<float>(workers_);
  for (float& value : sum) value *= share;
}

}  // namespace ringside
