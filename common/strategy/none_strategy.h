#ifndef RINGSIDE_COMMON_STRATEGY_NONE_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_NONE_STRATEGY_H_

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/strategy/call_checks.h"
#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// No synchronisation after the start: every worker trains its own copy on its own batches. It is
/// the upper limit of throughput. With one worker it is also the reference that every synchronous
/// strategy must follow. Updates run inside Submit. Each worker also keeps its own buffers (batch
/// norm's statistics).
class NoneStrategy : public Strategy {
 public:
  explicit NoneStrategy(const StrategyContext& context) : context_(context) {}

  /// Sends nothing: all workers get the same initial parameters from the seed or the checkpoint.
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  std::vector<StateVector> State() override;
  void Stop() override;

 private:
  StrategyContext context_;
  FailureLatch failure_;
  CallChecks calls_;
};

/// The entry of `none`. It is made before `main` begins, in no fixed order among files: nothing
/// that is initialised at namespace scope may read it.
extern const StrategyEntry kNoneEntry;

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_NONE_STRATEGY_H_
