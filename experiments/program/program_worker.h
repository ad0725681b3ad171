#ifndef RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_WORKER_H_
#define RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_WORKER_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/training/bucket_tracker.h"
#include "ringside/experiments/program/step_handover.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The worker of a job inside of a user's program, which `ringside train ... -- PROGRAM` has
/// started. The program owns its model, its data and its loop. This class gives it memory for its
/// parameters and gradients, and synchronises them. Language bindings are thin layers over it.
///
/// In every step the program awaits a tensor before it reads its parameters, begins the step, tells
/// when each gradient is final, and ends the step. Between `Submit` and `AwaitTensor` the strategy
/// owns both vectors of a tensor, as `Strategy` says.
///
/// Errors: a failure of the job ends the process with code 1, after its reason was written to
/// stderr, as it ends any other worker. A wrong call throws `ConfigError`, which the program may
/// catch, and changes nothing.
///
/// One thread calls it at a time. A forked child must not call it: that throws `ConfigError`. The
/// child may destroy its copy, which then leaks what the threads share.
class ProgramWorker {
 public:
  using Clock = DilatedClock;

  /// Joins the job whose launcher started this process. Throws `ConfigError` if none did, and if
  /// another process of this worker has joined it.
  ProgramWorker();
  /// Ends the process with an error if `End` was not called: the job would wait for ever.
  ~ProgramWorker();
  ProgramWorker(const ProgramWorker&) = delete;
  ProgramWorker& operator=(const ProgramWorker&) = delete;

  const World& world() const { return job_.setup.world; }
  const RunSpec& spec() const { return job_.setup.spec; }

  /// Whether the program can, with the mean gradients.
  bool program_can_update() const;
  /// If the strategy updates: servers do.
  bool servers_update() const;
  /// What makes `program_can_update` true, for a message: "--server-update off lets servers only
  /// sum", or the strategies to take instead, as far as they are available here.
  std::string HowToUpdate() const;

  /// `tensors` are those that are trained, in the order in which the backward pass finishes them.
  /// The strategy updates them with `optimizer`, whose gradients are those of the mean loss over
  /// the workers' batches together. Absent: the program updates them. A gradient that the program
  /// writes is that of the mean loss over its own batch. Throws `ConfigError` where the strategy
  /// cannot do that, and on a second call.
  void Register(std::vector<TensorSpec> tensors, const std::optional<OptimizerOptions>& optimizer,
                double learning_rate);
  /// Flat vectors; `plan` says where each tensor lies in both. The program writes its initial
  /// parameters there. Valid until the destructor. Throws `ConfigError` before `Register`.
  std::span<float> params() const;
  std::span<float> grads() const;
  const BucketPlan& plan() const { return plan_; }
  /// The initial parameters are in place. When it returns, those of worker 0 are.
  void Loaded();

  /// Every worker calls it in the same order: `bytes` become those of worker 0. For what is not
  /// trained. `what` says what they are, the same on every worker: its name, shape and type.
  /// Throws `ConfigError` when training has ended, and where worker 0 broadcasts something else, or
  /// does so in another step although the workers step together.
  void Broadcast(const std::string& what, std::span<std::byte> bytes);

  /// Waits until tensor i has the parameters that the next forward pass must read, and the strategy
  /// needs its gradient in `grads` no more.
  void AwaitTensor(int tensor);
  /// `AwaitTensor` for all tensors. If the program updates them, their gradients of the step that
  /// was submitted then are the means over the workers.
  void AwaitAll();

  /// Inside a step it does nothing. Otherwise the program computes one since `began`; its forward
  /// pass ended at `forward_end`. `learning_rate` is for a strategy that updates. Returns false if
  /// the training has ended: after `--steps`, or because somebody stopped it.
  bool Begin(Clock::time_point began, std::optional<Clock::time_point> forward_end,
             double learning_rate);
  /// The gradient of tensor i is final: `gradient`, which this call copies, or 0 if it is empty. It
  /// may lie in `grads` already, written after `AwaitTensor`; then nothing is copied. A gradient
  /// that is not finite ends the process: the run has diverged. Throws `ConfigError` outside of a
  /// step, on a second call in it, and when `gradient` has the wrong length.
  void GradientReady(int tensor, std::span<const float> gradient);
  bool IsGradientReady(int tensor) const;
  /// Ends the step. `loss_sum` is the sum of the losses of `samples` samples, for the records; 0
  /// and 0 if they are not known. Throws `ConfigError` when a gradient is missing.
  void EndStep(double loss_sum, std::size_t samples);
  /// What the program has measured on held-out data after the steps that are done. That of worker 0
  /// counts. A loss that is not finite ends the process: the run has diverged. Does nothing when
  /// training has ended, which it has after the last of `--steps`.
  void AddEvaluation(double loss, const std::optional<double>& accuracy,
                     std::map<std::string, double> metrics);
  /// Worker 0 writes a file into the folder "program" of the run's bundle. Throws `DataError`.
  void KeepFile(const std::string& name, const std::string& content) const;
  /// Whether the job reads the parameters in `params`: it keeps or compares them.
  bool needs_parameters() const { return spec().save_params || spec().check_replicas > 0; }
  /// Training has ended, and the job has this worker's result.
  bool finished() const { return Handover().finished(); }
  bool in_step() const { return Handover().in_step(); }
  /// The step that the program is in or that comes next.
  std::int64_t step() const { return Handover().step(); }

  /// The program does no further step. Returns when the job has this worker's result.
  void End();
  /// The program has failed for this reason. Ends the process.
  [[noreturn]] void Fail(const std::string& reason);

 private:
  class LentStrategy;

  StepHandover& Handover() const;
  /// Whether store and buffer of the job are there. They then stay until this thread ends a step or
  /// its training.
  bool JobListens() const;
  void RequireParameters() const;
  void RequireTensor(int tensor) const;
  void PrepareStep();
  void TakeGradient(std::size_t tensor, std::span<const float> gradient);

  const pid_t pid_;
  std::unique_ptr<StepHandover> handover_;
  std::unique_ptr<Catalog> catalog_;
  std::thread thread_;
  StepHandover::Job job_;
  bool registered_ = false;
  std::span<float> params_;
  std::span<float> grads_;
  BucketPlan plan_;
  int broadcasts_ = 0;
  Clock::time_point first_begin_;
  std::vector<TensorSpec> tensors_;
  bool program_updates_ = false;
  std::shared_ptr<GivenRates> rates_;
  std::unique_ptr<LentStrategy> lent_;
  std::unique_ptr<BucketTracker> tracker_;
  std::vector<bool> ready_;      // by tensor, in this step
  bool sums_are_scaled_ = true;  // those of the last step, if the program updates
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_PROGRAM_PROGRAM_WORKER_H_
