#ifndef RINGSIDE_COMMON_TRAINING_TRAINER_H_
#define RINGSIDE_COMMON_TRAINING_TRAINER_H_

#include <chrono>
#include <cstdint>
#include <vector>

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
  /// What `Strategy::State` had at that start point; null for a fresh start. Borrowed.
  const SavedState* saved_state = nullptr;
  std::int64_t end_step = 0;  ///< One past the last step. The model may end earlier.
  std::size_t global_batch = 64;
  std::uint64_t seed = 1;  ///< Seed of the order of samples.
  Averaging averaging = Averaging::kGlobalBatch;
  /// False: buckets are submitted after the backward pass and awaited immediately, so that no
  /// communication overlaps with compute. It measures what overlap gains.
  bool overlap = true;
  bool shared_params = true;  ///< False: each worker always keeps its own.
  /// Whether a gradient that is not finite is found before it leaves this worker. It costs one pass
  /// over the gradient, which is little beside a real backward pass.
  bool check_gradients = true;
  std::int64_t check_replicas_every = 0;      ///< In steps; 0: never.
  std::int64_t eval_every = 0;                ///< In steps; 0: only after the last step.
  std::int64_t checkpoint_every = 0;          ///< In steps; 0: never.
  std::chrono::milliseconds timeout{30'000};  ///< Limit of a wait for a batch.
  /// As `CommOptions::barrier_timeout`.
  std::chrono::milliseconds barrier_timeout{std::chrono::hours(1)};
};

/// The calls by which a trainer informs the process around it and asks it. They come on the
/// training thread, never inside a step.
class TrainerObserver {
 public:
  virtual ~TrainerObserver() = default;
  /// Before every step. False ends the training here. The observer makes sure that all ranks end at
  /// the same step. An early end writes a checkpoint (if the run has any) but does not evaluate.
  virtual bool MayStart(std::int64_t /*step*/) { return true; }
  /// A step has ended, because the next one may start: called after `MayStart` of the next step.
  virtual void StepDone(const StepRecord&) {}
  /// The model has ended the training before the step that `MayStart` let begin. All communication
  /// is done, and settling has not begun. Waits until the models of all workers have ended theirs.
  virtual void ModelEnded() {}
  virtual void Evaluated(const EvaluationRecord&) {}
  /// Collective and settled: every rank has done `steps_done` steps. Buffers are averaged if
  /// workers share their parameters.
  virtual void Checkpoint(std::int64_t /*steps_done*/) {}
  /// Collective and settled, as `Checkpoint` is, and before it. Throws `ReplicasDifferError` if the
  /// workers have different parameters.
  virtual void CompareReplicas(std::int64_t /*steps_done*/) {}
};

/// Borrowed parts. They must live until `Train` returns.
struct TrainerParts {
  const World& world;
  Model& model;  ///< Already bound to `space`.
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
  double train_seconds = 0;  ///< Without evaluations, checkpoints and start-up.
  /// When each bucket was submitted, as a part of the backward pass: the mean over steps. Empty if
  /// the model does not record where the pass begins.
  std::vector<double> ready_shares;
};

/// The one training loop: start, steps, evaluations and checkpoints between steps, settle, final
/// evaluation and checkpoint, stop. It does not know which strategy it drives. Buffers are averaged
/// over workers when training pauses, but only if workers share their parameters, because
/// statistics fit only the parameters that they come from. Nothing is evaluated when the test split
/// is empty. Throws what model, strategy, loader and observer throw, and `DivergedError` on a loss
/// or a gradient that is not finite. Then it leaves no thread behind; the other workers notice when
/// they miss this one.
TrainerResult Train(const TrainerParts& parts, const TrainerOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_TRAINING_TRAINER_H_
