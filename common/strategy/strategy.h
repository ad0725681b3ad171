#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/state_vector.h"

namespace ringside {

/// Where a job begins: at step 0 with fresh optimizer state, or at the step of a checkpoint.
struct StartPoint {
  std::int64_t step = 0;
  /// `Optimizer::state_size()` floats of the checkpoint, which every rank has read. Empty for a
  /// fresh start.
  std::span<const float> optimizer_state = {};
};

/// How workers agree on the next parameters. One instance per worker.
///
/// One thread calls: the "caller". In a step it does four things with every bucket: it awaits the
/// bucket, reads its parameters in the forward pass, writes its gradient in the backward pass, and
/// submits it. From `Submit(b)` until `Await(b)` returns, the strategy owns
/// both spans of b; at all other times the caller owns them. Every rank submits every bucket
/// exactly once per step, in any order. A strategy that needs one common order uses the plan's.
///
/// The gradients of all ranks are *summed*. The model has already scaled its gradient by the
/// reciprocal of the batch size over which the average is taken (see `Averaging`). So uneven
/// batches need no special treatment here.
///
/// Errors: every method first throws the first failure again, if there was one. Then it checks how
/// it was called, before it does anything: a bucket that is not of the plan or is submitted
/// already, a call before `Start` or after `Stop`. Such misuse throws `InternalError` that names
/// the bucket and its step. It is no failure: nothing has changed, the peers notice nothing, and
/// the caller may go on. Whatever is thrown after these checks is a failure, on any thread: all
/// later calls throw the same error. If a peer is to blame, it is a `CommError` that names the
/// peer. `FailureLatch` and `CallChecks` do both. Destruction without `Stop` abandons the peers at
/// once and never throws or blocks longer than the operation's timeout.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Collective. When it returns, all workers have the parameters of rank 0 in `space`. Both
  /// arguments must live until the strategy's last call. Throws `CommError` when the ranks have
  /// different plans.
  virtual void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) = 0;

  /// This bucket's gradient is final. Never waits for another rank: it is called from inside the
  /// backward pass. It may do this worker's own part on the caller's thread, such as an optimizer
  /// step; that time is measured as the worker's submit time. Codecs run on the communication
  /// thread (docs/decisions/0013-what-submit-does.md). Throws `InternalError` that names the bucket
  /// and its step if it is not in the plan or is submitted already.
  virtual void Submit(const Bucket& bucket) = 0;

  /// Returns when this bucket has the parameters that the next forward pass must read. Waits for
  /// the step that was submitted; `bucket.step` is the caller's current step, often a later one.
  /// Returns immediately for a bucket that is not submitted.
  virtual void Await(const Bucket& bucket) = 0;

  /// Collective, while no bucket is submitted. Gives this worker the strategy's best current
  /// parameters, which evaluation, checkpoints and the final result read. With asynchronous servers
  /// the worker pulls; a ring does nothing.
  virtual void Settle() {}

  /// Writes the optimizer state of the settled step to `out`: `Optimizer::state_size()` floats in
  /// flat order. Called only on rank 0, for checkpoints.
  virtual void ReadOptimizerState(std::span<float> out) = 0;

  /// What this worker's strategy remembers beside the parameters and the optimizer's state that
  /// `ReadOptimizerState` gives. Called while no bucket is submitted, on every rank: for
  /// checkpoints, which read the values, and right after `Start` of a resumed run, which writes
  /// them. The spans are valid until the next call.
  virtual std::vector<StateVector> State() { return {}; }

  /// Collective: finishes all submitted buckets and leaves nothing behind. After it, only
  /// destruction may follow.
  virtual void Stop() = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_H_
