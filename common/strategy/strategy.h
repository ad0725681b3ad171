#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_H_

#include <cstdint>
#include <span>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"

namespace ringside {

/// Where a job begins: at step 0 with fresh optimizer state, or at a checkpoint's.
struct StartPoint {
  std::int64_t step = 0;
  /// `Optimizer::state_size()` floats of the checkpoint, which every rank has read; empty for a
  /// fresh start.
  std::span<const float> optimizer_state = {};
};

/// How workers agree on the next parameters. One instance per worker.
///
/// A step, seen from the one thread that calls (the "caller"): for every bucket the caller awaits
/// it, reads its parameters in the forward pass, writes its gradient in the backward pass, submits
/// it. After `Submit(b)` the strategy owns both spans of b until `Await(b)` returns; before and
/// after that the caller owns them. Every rank submits every bucket exactly once a step, in any
/// order; strategies that need one order use plan order.
///
/// The gradients of all ranks are *summed*: the model has scaled its own by the reciprocal of the
/// batch they are to be averaged over (see `Averaging`), so uneven batches need no care here.
///
/// Errors: every method first throws the first failure again, if there was one. Then it checks how
/// it was called, before it does anything: a bucket that is not of the plan or is submitted
/// already, a call before `Start` or after `Stop`. Such misuse throws `InternalError` that names
/// the bucket and its step. It is no failure: nothing has changed, the peers notice nothing, and
/// the caller may go on. Whatever is thrown after these checks is a failure, on any thread: all
/// later calls throw the same error. Where a peer is to blame it is a `CommError` that names the
/// peer. `FailureLatch` and `CallChecks` do both. Destruction without `Stop` abandons the peers at
/// once and never throws or blocks longer than the operation's timeout.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Collective. All workers leave with the parameters of rank 0 in `space`. Both arguments outlive
  /// the strategy's last call. Throws `CommError` when plans differ between ranks.
  virtual void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) = 0;

  /// This bucket's gradient is final. Never waits for another rank: it is called from inside the
  /// backward pass. It may do this worker's own part on the caller's thread, such as an optimizer
  /// step; that time is measured as the worker's submit time. Codecs run on the communication
  /// thread (docs/decisions/0013-what-submit-does.md). Throws `InternalError` that names the bucket
  /// and its step if it is not in the plan or is submitted already.
  virtual void Submit(const Bucket& bucket) = 0;

  /// Returns when this bucket's parameters are those that the next forward pass must read. Waits
  /// for the submitted step: `bucket.step` is the caller's current step, often a later one. Returns
  /// at once for a bucket that is not submitted.
  virtual void Await(const Bucket& bucket) = 0;

  /// Collective, with no bucket under way. Brings this worker's parameters to the strategy's best
  /// current answer: what evaluation, checkpoints and the final result read. Asynchronous servers
  /// pull; a ring has nothing to do.
  virtual void Settle() {}

  /// Fills `out`, `Optimizer::state_size()` floats in flat order, with the optimizer state of the
  /// settled step. Called on rank 0 alone, for checkpoints.
  virtual void ReadOptimizerState(std::span<float> out) = 0;

  /// Collective: finishes all submitted buckets and leaves nothing behind. Only destruction may
  /// follow.
  virtual void Stop() = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_H_
