#ifndef RINGSIDE_RING_UPDATE_RULE_H_
#define RINGSIDE_RING_UPDATE_RULE_H_

#include <memory>
#include <span>

#include "common/bucket.h"
#include "common/bucket_plan.h"
#include "common/flat_space.h"
#include "common/strategy_entry.h"

namespace ringside {

/// What workers sum, when, and what becomes of parameters: the policy of `AllReduceStrategy`, which
/// sees to threads, order and errors. One instance per worker.
///
/// A bucket's turn: `Contribute`, the sum over all ranks of what that returned, `Apply`. It owns
/// both spans of the bucket meanwhile. What is summed depends on step and moment alone, so that all
/// ranks agree without a word.
///
/// Thread safety: `Contribute` is called on one thread at a time, `Apply` on any; turns of several
/// buckets overlap.
class UpdateRule {
 public:
  /// Why a bucket has its turn.
  enum class Moment {
    kStep,   ///< Its gradient is final.
    kPause,  ///< Training pauses after `Bucket::step`: parameters are to be the best answer.
  };

  virtual ~UpdateRule() = default;

  /// Once, before all other calls: `space` holds the parameters that all ranks start with. Both
  /// arguments outlive the last call.
  virtual void Start(const FlatSpace& /*space*/, const BucketPlan& /*plan*/) {}
  /// What is to be summed over all ranks, in place: a span as long on every rank. Empty: nothing.
  virtual std::span<float> Contribute(const Bucket& bucket, Moment moment) = 0;
  /// Brings the parameters to what is read next; what was contributed holds the sum.
  virtual void Apply(const Bucket& bucket, Moment moment) = 0;
  /// Whether buckets have turns when training pauses.
  virtual bool acts_at_pauses() const { return false; }
};

/// The sum of all gradients, then the worker's own optimizer: what one worker would do with the
/// global batch.
std::unique_ptr<UpdateRule> MakeGradientSum(const StrategyContext& context);

}  // namespace ringside

#endif  // RINGSIDE_RING_UPDATE_RULE_H_
