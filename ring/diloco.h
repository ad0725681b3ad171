#ifndef RINGSIDE_RING_DILOCO_H_
#define RINGSIDE_RING_DILOCO_H_

#include <memory>
#include <vector>

#include "common/optim/optimizer.h"
#include "ring/periodic_rule.h"

namespace ringside {

/// DiLoCo (Douillard et al., 2023): every H steps the mean over the workers of how far they have
/// come, "the outer gradient", moves the parameters that they all started from by SGD with
/// Nesterov's momentum (`outer_lr`, `outer_momentum`); all go on from there. The inner optimizer is
/// the run's; its state stays each worker's own, and a checkpoint holds worker 0's.
///
/// The outer momentum is in no checkpoint: a resumed run starts it at zero, from the parameters of
/// the checkpoint.
class Diloco : public PeriodicRule {
 public:
  explicit Diloco(const StrategyContext& context)
      : PeriodicRule(context), options_(context.options) {}

  void Start(const FlatSpace& space, const BucketPlan& plan) override;

 protected:
  std::span<float> BeginMeeting(const Bucket& bucket) override;
  void EndMeeting(const Bucket& bucket) override;

 private:
  StrategyOptions options_;
  std::vector<float> origin_params_;  // flat: those of the last meeting
  std::unique_ptr<Optimizer> outer_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_DILOCO_H_
