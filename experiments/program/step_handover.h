#ifndef RINGSIDE_EXPERIMENTS_PROGRAM_STEP_HANDOVER_H_
#define RINGSIDE_EXPERIMENTS_PROGRAM_STEP_HANDOVER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/store.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/common/training/model.h"
#include "ringside/experiments/job/coordinator/heartbeat.h"
#include "ringside/experiments/job/processes/member_setup.h"

namespace ringside {

/// Where the thread of a user's program and the training thread of its worker take turns. The
/// training thread runs the one training loop. At every step it lends its strategy to the program's
/// thread, and waits.
///
/// The program's thread calls, in this order: `Join`, `Register`, `Loaded`, then for every step
/// `Await` for each bucket, `Begin`, `Submit` for each bucket, `EndStep`; at last `End`, or `Fail`.
/// The training thread calls the rest, through `ProgramModel`.
///
/// Waits for the other thread have no deadline: a program may compute as long as it likes. A
/// program that hangs is found by the workers that wait for it, by the run's time limit, or by the
/// user.
///
/// Errors: a failure of the job ends the process, with its reason on stderr. So a call of the
/// program's thread that meets one hands it over and does not return. Calls in a wrong order throw
/// `ConfigError`, which the program may catch.
///
/// Thread-safe for these two threads. The strategy belongs to the program's thread while the
/// training thread is in `WaitForBegin`, until `Begin`, and in `WaitForStep`, until `EndStep`. At
/// all other times it belongs to the training thread.
class StepHandover {
 public:
  using Clock = DilatedClock;

  // Calls of the program's thread.

  /// The job, as its worker knows it. Store and buffer are valid until training has ended.
  struct Job {
    MemberSetup setup;
    Store* store = nullptr;
    HeartbeatBuffer* buffer = nullptr;
  };
  /// Waits until the job knows this worker. The result is valid as long as this object.
  const Job& Join();
  /// Names the tensors, in the order in which the backward pass finishes them, and who updates
  /// them. Waits for the memory, which is valid as long as this object. Plan and space are valid
  /// until training has ended.
  struct Memory {
    FlatSpace* space;
    const BucketPlan* plan;
  };
  Memory Register(std::vector<TensorSpec> tensors, ModelUpdate update);
  /// The initial parameters are in place. Returns when all workers have those of worker 0 and the
  /// first step may begin, or training has ended.
  void Loaded();
  /// Waits until the last step is done and the next may begin, or has begun. Returns false if
  /// training has ended; then the plan and the space of `Register` are gone, but their memory is
  /// not.
  bool WaitForTurn();
  /// Returns when the bucket has the parameters, or the sum, of the last step.
  void Await(int bucket);
  /// The program computes a step, since `began`. Its forward pass ended at `forward_end`. Returns
  /// false if training has ended. Does nothing inside a step. Does not wait until the training
  /// thread has begun the step, too: calls that need the strategy do.
  bool Begin(Clock::time_point began, std::optional<Clock::time_point> forward_end);
  /// Inside a step: the bucket's gradient is final.
  void Submit(int bucket);
  /// Ends the step. `loss_sum` is the sum of the losses of `samples` samples.
  void EndStep(double loss_sum, std::size_t samples);
  /// The step that the program is in or that comes next.
  std::int64_t step() const;
  bool in_step() const;
  /// `Loaded` was called.
  bool loaded() const;
  /// Training has ended, and the worker has handed in its result.
  bool finished() const;
  /// The program does no further step. Returns when the training thread has taken that in.
  void End();
  /// The program has failed. Ends the process.
  [[noreturn]] void Fail(const std::exception_ptr& failure) { HandOver(failure); }

  // Calls of the training thread.

  void SetJoined(Job job);
  /// Waits for `Register`.
  const std::vector<TensorSpec>& WaitForTensors();
  const ModelUpdate& update() const { return update_; }
  /// Waits for `Loaded`.
  void LendMemory(FlatSpace& space, const BucketPlan& plan);
  /// Waits for `Begin`. Absent: the program has ended.
  std::optional<Clock::time_point> WaitForBegin(std::int64_t step, Strategy& strategy);
  struct StepResult {
    double loss_sum = 0;
    std::size_t samples = 0;
    std::optional<Clock::time_point> forward_end = {};
  };
  /// Lends the strategy of a step that has begun. Waits for `EndStep`.
  StepResult WaitForStep(Strategy& strategy);
  /// After the last step: the program may read its parameters until its end.
  void KeepMemory(FlatSpace space);
  /// The worker has handed in its result.
  void SetFinished();

 private:
  enum class Turn {
    kTraining,  // the training thread's
    kParked,    // between two steps; if `began_` is set, the program is inside of the next one
    kStepping,  // the program is inside a step
    kFinished,  // training has ended
  };

  /// Waits for `ready`, which the mutex guards. Throws what the other side has handed over.
  template <typename Ready>
  void WaitOnTrainingThread(std::unique_lock<std::mutex>& lock, const Ready& ready);
  template <typename Ready>
  void WaitInProgram(std::unique_lock<std::mutex>& lock, const Ready& ready);
  /// Waits until the program may use the strategy, or training has ended.
  void WaitForStrategy(std::unique_lock<std::mutex>& lock);
  /// The mutex is held.
  bool InStep() const;
  /// Runs a call of the strategy on the program's thread. Hands over what it throws and never
  /// returns then.
  template <typename Call>
  void Borrowed(Strategy& strategy, const Call& call);
  Bucket BucketOf(int bucket, std::int64_t step) const;
  [[noreturn]] void HandOver(const std::exception_ptr& failure);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // All of this is guarded by mutex_.
  std::optional<Job> job_;
  std::optional<std::vector<TensorSpec>> tensors_;
  ModelUpdate update_;
  Memory memory_{nullptr, nullptr};
  std::optional<FlatSpace> kept_;
  bool loaded_ = false;
  Turn turn_ = Turn::kTraining;
  Strategy* strategy_ = nullptr;  // lent to the program
  std::int64_t step_ = 0;
  std::optional<Clock::time_point> began_;
  StepResult result_;
  bool step_done_ = false;
  bool program_ended_ = false;
  std::exception_ptr failure_;  // of the program's thread
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_PROGRAM_STEP_HANDOVER_H_
