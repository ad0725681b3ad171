#ifndef RINGSIDE_EXPERIMENTS_JOB_STOP_GATE_H_
#define RINGSIDE_EXPERIMENTS_JOB_STOP_GATE_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "common/deadline.h"

namespace ringside {

/// Lets all workers of a job stop at the same step, without a message on the way of any step.
///
/// On a drain the heartbeat thread holds the gate and reports the first step that has not begun;
/// the coordinator answers the largest of all reports (`StopAgreement`), and every worker runs up
/// to there. A worker that waits at the gate has finished the steps before, so the others can
/// finish theirs; a worker that already runs a step reports the one after. Hence no synchronous
/// step is begun by some and not by others.
///
/// Thread-safe: one training thread calls `MayStart`, one heartbeat thread the rest.
class StopGate {
 public:
  explicit StopGate(std::int64_t first_step) : next_step_(first_step) {}

  /// True: step `step` has begun. False: it must not. While the gate is held it waits for the
  /// answer; throws `CommError` naming the coordinator when that does not come in time or `Break`
  /// was called.
  bool MayStart(std::int64_t step, const Deadline& deadline);

  /// From now on no step begins before `StopAt`. Returns the first that has not begun. Idempotent.
  std::int64_t Hold();
  /// Steps before `step` may begin, others never.
  void StopAt(std::int64_t step);
  /// Whoever waits at the gate throws: the coordinator is gone or the job has failed.
  void Break(const std::string& reason);

  std::int64_t next_step() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_step_;                 // guarded by mutex_
  bool held_ = false;                      // guarded by mutex_
  std::optional<std::int64_t> stop_step_;  // guarded by mutex_
  std::optional<std::string> broken_;      // guarded by mutex_
};

/// The coordinator's side: collects the held steps of all workers. Not thread-safe.
class StopAgreement {
 public:
  explicit StopAgreement(int workers) : workers_(workers) {}

  /// Worker `rank` is held before `step`, or has ended with `step` steps done. The first report of
  /// a rank counts.
  void Report(int rank, std::int64_t step) { held_.emplace(rank, step); }
  /// Where all stop: known once every worker has reported.
  std::optional<std::int64_t> stop_step() const;

 private:
  int workers_;
  std::map<int, std::int64_t> held_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_STOP_GATE_H_
