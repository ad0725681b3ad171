#ifndef RINGSIDE_COMMON_TRAINING_TRAINER_H_
#define RINGSIDE_COMMON_TRAINING_TRAINER_H_

#include <chrono>
#include <cstdint>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/common/training/model.h"

namespace ringside {

struct TrainerOptions {
  StartPoint start = {};
  std::int64_t end_step = 0;  ///< One past the last step.
  std::size_t global_batch = 64;
  std::uint64_t seed = 1;  ///< Of the order of samples.
  Averaging averaging = Averaging::kGlobalBatch;
  /// False: buckets are submitted after the backward pass and awaited at once, so that nothing is
  /// communicated while the model computes. For measuring what overlap is worth.
  bool overlap = true;
  bool shared_params = true;                  ///< False: each worker keeps its own for ever.
  std::int64_t eval_every = 0;                ///< In steps; 0: after the last step alone.
  std::int64_t checkpoint_every = 0;          ///< In steps; 0: never.
  std::chrono::milliseconds timeout{30'000};  ///< Of a wait for a batch.
  /// How far workers may drift apart between steps; a dead worker is noticed by the job's leases
  /// long before.
  std::chrono::milliseconds barrier_timeout{std::chrono::hours(1)};
};

/// The calls with which a trainer informs and asks the process around it. Called on the training
/// thread, never inside a step.
class TrainerObserver {
 public:
  virtual ~TrainerObserver() = default;
  /// Before every step. False ends the training here; the observer sees to it that all ranks end at
  /// the same step. An early end leaves a checkpoint (if there are any) but does not evaluate.
  virtual bool MayStart(std::int64_t /*step*/) { return true; }
  /// A step has ended, which is when the next one may start: after `MayStart` of that one.
  virtual void StepDone(const StepRecord&) {}
  virtual void Evaluated(const EvaluationRecord&) {}
  /// Collective and settled: every rank is here with `steps_done` steps, buffers averaged where
  /// workers share their parameters.
  virtual void Checkpoint(std::int64_t /*steps_done*/) {}
};

/// Borrowed parts; they must outlive the call of `Train`.
struct TrainerParts {
  const World& world;
  Model& model;  ///< Bound to `space` already.
  Strategy& strategy;
  FlatSpace& space;
  const BucketPlan& plan;
  const Dataset& dataset;
  Store& store;
  Recorder& recorder;
  Timeline& timeline;
  TrainerObserver& observer;
};

struct TrainerResult {
  std::int64_t steps_done = 0;
  bool completed = true;     ///< False: the observer ended it early.
  double train_seconds = 0;  ///< Evaluations, checkpoints and start-up left out.
};

/// The one training loop: start, steps, evaluations and checkpoints between steps, settle, final
/// evaluation and checkpoint, stop. It does not know which strategy it drives. Buffers are averaged
/// over workers when training pauses, but never where workers do not share their parameters:
/// statistics of other parameters than one's own fit neither. Nothing is evaluated when the test
/// split is empty. Throws what model, strategy, loader and observer throw, and `DivergedError` on a
/// loss that is not finite; it has then left no thread behind, and the other workers find out when
/// they miss this one.
TrainerResult Train(const TrainerParts& parts, const TrainerOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_TRAINER_H_
