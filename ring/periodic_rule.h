#ifndef RINGSIDE_RING_PERIODIC_RULE_H_
#define RINGSIDE_RING_PERIODIC_RULE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/update_rule.h"

namespace ringside {

/// Workers step alone, each with its own optimizer on its own batches, and meet every H steps
/// (`StrategyOptions::sync_every`): after the steps H, 2H, ... of the job, whatever happens in
/// between. What they do then is up to the derived class.
///
/// At a pause between two meetings parameters become their average over the workers, and training
/// goes on from there: a pause that is not at a multiple of H is one meeting more.
class PeriodicRule : public UpdateRule {
 public:
  explicit PeriodicRule(const StrategyContext& context)
      : context_(context), workers_(context.world.workers) {}

  void Start(const FlatSpace& space, const BucketPlan& plan) override;
  std::span<float> Contribute(const Bucket& bucket, Moment moment) final;
  void Apply(const Bucket& bucket, Moment moment) final;
  bool acts_at_pauses() const final { return true; }

 protected:
  /// After this worker's H-th own step: what is to be summed.
  virtual std::span<float> BeginMeeting(const Bucket& bucket) = 0;
  /// With the sum.
  virtual void EndMeeting(const Bucket& bucket) = 0;

  /// Of the bucket in the flat vectors.
  std::size_t OffsetOf(const Bucket& bucket) const;
  /// Sum over the workers to mean.
  void Average(std::span<float> sum) const;

 private:
  bool MeetsAfter(std::int64_t step) const { return (step + 1) % context_.options.sync_every == 0; }
  void StepAlone(const Bucket& bucket);

  StrategyContext context_;
  int workers_;
  const float* origin_ = nullptr;  // of the flat parameter vector
};

}  // namespace ringside

#endif  // RINGSIDE_RING_PERIODIC_RULE_H_
