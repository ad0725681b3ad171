#include "ring/periodic_rule.h"

namespace ringside {

void PeriodicRule::Start(const FlatSpace& space, const BucketPlan&) {
  origin_ = space.params().data();
}

std::span<float> PeriodicRule::Contribute(const Bucket& bucket, Moment moment) {
  const bool meets = MeetsAfter(bucket.step);
  if (moment == Moment::kPause) return meets ? std::span<float>() : bucket.params;
  if (!meets) return {};
  StepAlone(bucket);
  return BeginMeeting(bucket);
}

void PeriodicRule::Apply(const Bucket& bucket, Moment moment) {
  const bool meets = MeetsAfter(bucket.step);
  if (moment == Moment::kPause) {
    if (!meets) Average(bucket.params);
  } else if (meets) {
    EndMeeting(bucket);
  } else {
    StepAlone(bucket);
  }
}

void PeriodicRule::StepAlone(const Bucket& bucket) {
  context_.optimizer.Apply(OffsetOf(bucket), bucket.params, bucket.grads,
                           {bucket.step + 1, context_.schedule.At(bucket.step)});
}

std::size_t PeriodicRule::OffsetOf(const Bucket& bucket) const {
  return static_cast<std::size_t>(bucket.params.data() - origin_);
}

void PeriodicRule::Average(std::span<float> sum) const {
  const float share = 1.0F / static_cast<float>(workers_);
  for (float& value : sum) value *= share;
}

}  // namespace ringside
