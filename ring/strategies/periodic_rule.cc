#include "ringside/ring/strategies/periodic_rule.h"

namespace ringside {

FlatVector PeriodicRule::Contribute(const Bucket& bucket, UpdateTrigger trigger) {
  const bool meets = MeetsAfter(bucket.step);
  if (trigger == UpdateTrigger::kPause) return meets ? FlatVector::kNone : FlatVector::kParams;
  if (!meets) return FlatVector::kNone;
  LocalStep(bucket);
  return BeginSync(bucket);
}

void PeriodicRule::Apply(const Bucket& bucket, UpdateTrigger trigger) {
  const bool meets = MeetsAfter(bucket.step);
  if (trigger == UpdateTrigger::kPause) {
    if (!meets) Average(bucket.params);
  } else if (meets) {
    EndSync(bucket);
  } else {
    LocalStep(bucket);
  }
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
