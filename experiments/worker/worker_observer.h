#ifndef RINGSIDE_EXPERIMENTS_WORKER_WORKER_OBSERVER_H_
#define RINGSIDE_EXPERIMENTS_WORKER_WORKER_OBSERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "ringside/common/training/trainer.h"
#include "ringside/experiments/job/coordinator/drain_barrier.h"
#include "ringside/experiments/job/coordinator/heartbeat.h"
#include "ringside/experiments/worker/counted_time.h"
#include "ringside/experiments/worker/resource_usage.h"

namespace ringside {

/// Does a worker's work between steps. Asks the drain barrier whether a step may start, hands
/// records to the heartbeat, and counts the bytes of its sockets from the first step to the last.
/// On rank 0 it also hashes the settled parameters at every evaluation, and reports what the
/// strategy decided at its start. Borrows everything; used by the training thread.
class WorkerObserver : public TrainerObserver {
 public:
  struct Parts {
    const World& world;
    const FlatSpace& space;
    DrainBarrier& drain_barrier;
    HeartbeatBuffer& buffer;
    const Recorder& recorder;
    std::int64_t first_step = 0;
    std::int64_t end_step = 0;
    std::int64_t warmup_steps = 0;
    std::chrono::milliseconds timeout{30'000};  ///< For the agreed last step.
    std::string coordinator;                    ///< Its connection is not counted.
    std::function<void()> before_first_step;
    std::function<void()> wait_for_other_ends;  ///< `TrainerObserver::ModelEnded`.
    std::function<void(std::int64_t steps_done)> write_checkpoint;
    std::function<void(std::int64_t steps_done)> compare_replicas;
  };

  explicit WorkerObserver(Parts parts) : parts_(std::move(parts)), counted_(parts_.warmup_steps) {}

  bool MayStart(std::int64_t step) override;
  void StepDone(const StepRecord& record) override;
  void ModelEnded() override {
    TakeTotals();
    parts_.wait_for_other_ends();
  }
  void Evaluated(const EvaluationRecord& record) override;
  void Checkpoint(std::int64_t steps_done) override { parts_.write_checkpoint(steps_done); }

  void CompareReplicas(std::int64_t steps_done) override { parts_.compare_replicas(steps_done); }

  /// Bytes between the start of the first step and the end of the last.
  SocketBytes bytes() const { return bytes_; }
  /// The time of the machine's cores in the same period.
  MachineTicks machine() const { return machine_; }
  const CountedTime& counted() const { return counted_; }

 private:
  void Begin();
  void TakeTotals();

  const Parts parts_;
  SocketBytes bytes_at_start_;
  SocketBytes bytes_;
  MachineTicks machine_at_start_;
  MachineTicks machine_;
  CountedTime counted_;
  bool stopped_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_WORKER_OBSERVER_H_
