// Steps of the loop, the same for every strategy: ask whether the step may start, take a batch, run
// forward and backward, which await and submit buckets. Before an evaluation, a checkpoint and the
// end ("a pause"), all buckets are awaited within the step that submitted them. The pause itself
// belongs to no step.
#include "ringside/common/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/common/base/finite.h"
#include "ringside/common/core/bucket.h"
#include "ringside/common/data/loader.h"
#include "ringside/common/strategy/deferred_submit_strategy.h"
#include "ringside/common/strategy/finite_gradients_strategy.h"
#include "ringside/common/strategy/measured_strategy.h"
#include "ringside/common/training/evaluator.h"
#include "ringside/common/training/ready_shares.h"

namespace ringside {
namespace {

using Clock = Timeline::Clock;

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

class TrainingLoop {
 public:
  TrainingLoop(const TrainerParts& parts, const TrainerOptions& options)
      : parts_(parts),
        options_(options),
        strategy_(parts.strategy, parts.timeline, parts.recorder.activity()),
        deferred_(strategy_),
        checked_(options.overlap ? static_cast<Strategy&>(strategy_) : deferred_, parts.world.rank),
        ready_(parts.plan.buckets()),
        loader_(parts.dataset, parts.world, LoaderOptions(options)),
        evaluator_(parts.world, parts.model, parts.dataset, parts.store, parts.timeline,
                   options.barrier_timeout) {
    result_.steps_done = options.start.step;
  }

  TrainerResult Run() {
    Does(Activity::Kind::kStart);
    strategy_.Start(parts_.space, parts_.plan, options_.start);
    RestoreStrategy();
    while (result_.steps_done < options_.end_step) {
      Does(Activity::Kind::kHeld);
      if (!parts_.observer.MayStart(result_.steps_done)) {
        result_.completed = false;
        break;
      }
      const Clock::time_point now = Clock::now();
      CloseStep(now);
      if (!RunStep(result_.steps_done, now)) {
        EndBeforeStep();
        break;
      }
      ++result_.steps_done;
      if (EvaluationDue() || CheckpointDue() || ReplicaCheckDue()) {
        Pause(EvaluationDue(), CheckpointDue());
      }
    }
    Finish();
    result_.ready_shares = ready_.Means();
    return result_;
  }

 private:
  static Loader::Options LoaderOptions(const TrainerOptions& options) {
    return {.global_batch = options.global_batch,
            .seed = options.seed,
            .first_step = options.start.step,
            .end_step = options.end_step,
            .timeout = options.timeout};
  }

  void Does(Activity::Kind kind) {
    parts_.recorder.activity().Set({.kind = kind, .step = result_.steps_done});
  }

  void RestoreStrategy() {
    if (options_.saved_state == nullptr) return;
    for (const std::string& note : RestoreState(strategy_.State(), *options_.saved_state)) {
      parts_.recorder.AddNote(note);
    }
  }

  /// Returns false if the model ends the training instead.
  bool RunStep(std::int64_t step, Clock::time_point begin) {
    record_ = {.step = step};
    step_begin_ = begin;
    step_open_ = true;
    Does(Activity::Kind::kData);
    const Batch batch = NextBatch(step);
    const Clock::time_point may_compute = Clock::now();
    const auto began = parts_.model.BeginStep(step, ForModel());
    if (!began) return false;
    const Clock::time_point compute_begin = std::max(*began, may_compute);
    record_.data_ms += Milliseconds(compute_begin - may_compute);
    Does(Activity::Kind::kCompute);
    strategy_.BeginCompute(compute_begin);
    record_.loss_sum = parts_.model.ForwardBackward(batch, ForModel());
    record_.samples = parts_.model.StepSamples(batch);
    FaultPoint({.point = fault_points::kStepComputed, .step = step, .loss = &record_.loss_sum});
    const Clock::time_point compute_end = Clock::now();
    record_.compute_ms = Milliseconds(compute_end - compute_begin);
    TakeTimes();
    // A model that begins its steps itself may have awaited buckets before the begin.
    record_.compute_ms =
        std::max(0.0, record_.compute_ms - (record_.submit_ms + record_.exposed_comm_ms));
    AddPasses(compute_begin, compute_end);
    deferred_.Release();
    TakeTimes();
    if (!std::isfinite(record_.loss_sum)) {
      throw DivergedError(parts_.world.rank, step, record_.loss_sum);
    }
    evaluator_.AddTrainingLoss(record_.loss_sum, record_.samples);
    return true;
  }

  /// Leaves out the step that the model does not do.
  void EndBeforeStep() {
    step_open_ = false;
    AwaitAll(result_.steps_done);
    strategy_.TakeTimes();
    Does(Activity::Kind::kEnded);
    parts_.observer.ModelEnded();
  }

  void AwaitAll(std::int64_t step) {
    for (int bucket = 0; bucket < parts_.plan.buckets(); ++bucket) {
      strategy_.Await(MakeBucket(parts_.space, parts_.plan, bucket, step));
    }
  }

  void AddPasses(Clock::time_point begin, Clock::time_point end) {
    const auto middle = parts_.model.forward_end();
    if (!middle) return;
    // A model awaits a bucket before it reads the parameters, which happens in the forward pass.
    record_.forward_ms = std::max(0.0, Milliseconds(*middle - begin) - record_.exposed_comm_ms);
    ready_.AddStep(record_.forward_ms, record_.compute_ms, strategy_.submitted_ms());
    parts_.timeline.Add(SpanKind::kForward, begin, *middle, record_.step, -1, kComputeLane);
    parts_.timeline.Add(SpanKind::kBackward, *middle, end, record_.step, -1, kComputeLane);
  }

  Strategy& ForModel() {
    if (options_.check_gradients) return checked_;
    if (options_.overlap) return strategy_;
    return deferred_;
  }

  Batch NextBatch(std::int64_t step) {
    const ScopedSpan span(parts_.timeline, SpanKind::kData, step);
    const Clock::time_point begin = Clock::now();
    Batch batch = loader_.Next();
    record_.data_ms = Milliseconds(Clock::now() - begin);
    record_.samples = batch.samples;
    const std::size_t over =
        options_.averaging == Averaging::kGlobalBatch ? batch.global_samples : batch.samples;
    batch.gradient_scale = over == 0 ? 0.0F : 1.0F / static_cast<float>(over);
    return batch;
  }

  void TakeTimes() {
    const MeasuredStrategy::Times times = strategy_.TakeTimes();
    record_.submit_ms += times.submit_ms;
    record_.exposed_comm_ms += times.await_ms;
  }

  /// Ends the current step at `now`, if there is one.
  void CloseStep(Clock::time_point now) {
    if (!step_open_) return;
    step_open_ = false;
    record_.step_ms = Milliseconds(now - step_begin_);
    record_.codec_ms = parts_.recorder.TakeCodecMs();
    record_.straggler_ms = parts_.recorder.TakeStragglerMs();
    result_.train_seconds += record_.step_ms / 1000;
    parts_.recorder.AddStep(record_);
    parts_.observer.StepDone(record_);
  }

  /// Waits for the communication of the current step, as part of that step, and ends it.
  void Drain() {
    if (!step_open_) return;
    AwaitAll(record_.step);
    TakeTimes();
    CloseStep(Clock::now());
  }

  bool Every(std::int64_t steps) const {
    const bool last = result_.steps_done == options_.end_step;
    return last || (steps > 0 && result_.steps_done % steps == 0);
  }
  bool EvaluationDue() const { return evaluator_.enabled() && Every(options_.eval_every); }
  bool CheckpointDue() const {
    return options_.checkpoint_every > 0 && Every(options_.checkpoint_every);
  }

  bool ReplicaCheckDue() const {
    return options_.check_replicas_every > 0 && Every(options_.check_replicas_every);
  }

  /// Collective: settles the parameters, then does what is due.
  void Pause(bool evaluate, bool checkpoint) {
    Drain();
    Does(Activity::Kind::kSettle);
    strategy_.Settle();
    CheckParameters();
    if (ReplicaCheckDue()) CompareReplicas();
    if (options_.shared_params) evaluator_.AverageBuffers(result_.steps_done);
    if (evaluate) Evaluate();
    if (checkpoint) Checkpoint();
    strategy_.TakeTimes();  // a pause belongs to no step
    paused_at_ = result_.steps_done;
  }

  /// A finite gradient can make a parameter overflow. The next loss would tell, but the last step
  /// has none, and a checkpoint would keep the value.
  void CheckParameters() const {
    const std::span<const float> params = parts_.space.params();
    const auto at = FirstNotFinite(params);
    if (!at) return;
    throw DivergedError("parameter " + std::to_string(*at) + " of worker " +
                            std::to_string(parts_.world.rank) + " is " +
                            std::to_string(params[*at]) + " after " +
                            std::to_string(result_.steps_done) + " steps",
                        parts_.world.rank, result_.steps_done);
  }

  void CompareReplicas() {
    if (compared_at_ == result_.steps_done) return;
    parts_.observer.CompareReplicas(result_.steps_done);
    compared_at_ = result_.steps_done;
  }

  /// If replicas are compared at all, no checkpoint keeps parameters that differ.
  void Checkpoint() {
    if (options_.check_replicas_every > 0) CompareReplicas();
    Does(Activity::Kind::kCheckpoint);
    parts_.observer.Checkpoint(result_.steps_done);
    checkpointed_at_ = result_.steps_done;
  }

  void Evaluate() {
    Does(Activity::Kind::kEvaluate);
    EvaluationRecord record = evaluator_.Evaluate(result_.steps_done, result_.train_seconds);
    record.epoch =
        static_cast<double>(result_.steps_done) / static_cast<double>(loader_.steps_per_epoch());
    parts_.recorder.AddEvaluation(record);
    parts_.observer.Evaluated(record);
  }

  /// An early end still writes a checkpoint to resume from, but it does not evaluate, which would
  /// take long.
  void Finish() {
    const bool checkpoint = options_.checkpoint_every > 0 && checkpointed_at_ != result_.steps_done;
    if (paused_at_ != result_.steps_done) {
      Pause(result_.completed && evaluator_.enabled(), checkpoint);
    } else if (checkpoint) {
      Checkpoint();  // still settled: no worker has done a step since that pause
    }
    Does(Activity::Kind::kStop);
    strategy_.Stop();
  }

  const TrainerParts& parts_;
  const TrainerOptions& options_;
  MeasuredStrategy strategy_;
  DeferredSubmitStrategy deferred_;  // used only without overlap
  FiniteGradientsStrategy checked_;  // of the one that the model would use
  ReadyShares ready_;
  Loader loader_;
  Evaluator evaluator_;
  TrainerResult result_;
  StepRecord record_;  // of the current step
  Clock::time_point step_begin_;
  bool step_open_ = false;
  std::int64_t paused_at_ = -1;        // steps done at the last pause
  std::int64_t checkpointed_at_ = -1;  // steps done at the last checkpoint
  std::int64_t compared_at_ = -1;      // steps done when replicas were last compared
};

}  // namespace

TrainerResult Train(const TrainerParts& parts, const TrainerOptions& options) {
  return TrainingLoop(parts, options).Run();
}

}  // namespace ringside
