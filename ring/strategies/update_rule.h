#ifndef RINGSIDE_RING_STRATEGIES_UPDATE_RULE_H_
#define RINGSIDE_RING_STRATEGIES_UPDATE_RULE_H_

#include <memory>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/flat_vector.h"
#include "ringside/common/core/state_vector.h"
#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// Decides what workers sum, when, and how parameters change. It is the policy of
/// `AllReduceStrategy`, which handles threads, order and errors. One instance per worker.
///
/// A bucket's turn has three parts: `Contribute` returns a vector, all ranks sum that vector, and
/// `Apply` updates the parameters. The rule owns both spans of the bucket during the turn. What is
/// summed depends only on the step and the trigger, so all ranks agree without a message.
///
/// Thread safety: `Contribute` is called on one thread at a time, `Apply` on any thread. Turns of
/// different buckets overlap.
class UpdateRule {
 public:
  /// The reason for a bucket's turn.
  enum class UpdateTrigger {
    kStep,   ///< Its gradient is final.
    kPause,  ///< Training pauses after `Bucket::step`; the parameters must be the best so far.
  };

  virtual ~UpdateRule() = default;

  /// Called once, before all other calls. `space` holds the parameters that all ranks start with.
  /// Both arguments live longer than the last call.
  virtual void Start(const FlatSpace& /*space*/, const BucketPlan& /*plan*/) {}
  /// Returns which vector of the bucket to sum over all ranks, in place; `kNone`: nothing is
  /// summed.
  virtual FlatVector Contribute(const Bucket& bucket, UpdateTrigger trigger) = 0;
  /// Updates the parameters. The vector that `Contribute` returned now holds the sum.
  virtual void Apply(const Bucket& bucket, UpdateTrigger trigger) = 0;
  /// Whether buckets have turns when training pauses.
  virtual bool acts_at_pauses() const { return false; }
  /// As `Strategy::State`; after `Start`, between turns.
  virtual std::vector<StateVector> State() { return {}; }
};

/// Returns the rule that sums all gradients and then applies the worker's own optimizer, as one
/// worker with the global batch would.
std::unique_ptr<UpdateRule> MakeGradientSum(const StrategyContext& context);

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_UPDATE_RULE_H_
