#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_DRAIN_BARRIER_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_DRAIN_BARRIER_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "ringside/common/base/deadline.h"

namespace ringside {

/// Lets all workers of a job stop at the same step. Steps themselves need no extra message.
///
/// To drain the job, each worker's heartbeat thread holds its barrier and reports the first step
/// that has not begun. The coordinator answers with the largest of all reports (`StopAgreement`),
/// and every worker runs up to that step. A worker that waits at its barrier has finished the
/// earlier steps, so the others can finish theirs. A worker that is inside a step reports the next
/// one. So a synchronous step is begun by all workers or by none.
///
/// Thread-safe: one training thread calls `MayStart`, one heartbeat thread the rest.
class DrainBarrier {
 public:
  explicit DrainBarrier(std::int64_t first_step) : next_step_(first_step) {}

  /// Returns true when step `step` has begun, false when it must not begin. While the barrier is
  /// held, waits for the answer. Throws `CommError` naming the coordinator when no answer comes in
  /// time or `Break` was called.
  bool MayStart(std::int64_t step, const Deadline& deadline);

  /// Lets no step begin until `StopAt`. Returns the first step that has not begun. Idempotent.
  std::int64_t Hold();
  /// Lets the steps before `step` begin, and no others.
  void StopAt(std::int64_t step);
  /// Makes waiting calls throw, because the coordinator is gone or the job has failed.
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

/// The coordinator's part: collects the held steps of all workers. Not thread-safe.
class StopAgreement {
 public:
  explicit StopAgreement(int workers) : workers_(workers) {}

  /// Worker `rank` is held before `step`, or has ended with `step` steps done. Only the first
  /// report of a rank counts.
  void Report(int rank, std::int64_t step) { held_.emplace(rank, step); }
  /// The job goes on without this worker. What it has reported still counts, because the others may
  /// have been told already.
  void Drop(int rank) { dropped_.insert(rank); }
  /// The step at which all stop; absent until every worker has reported that is not dropped.
  std::optional<std::int64_t> stop_step() const;

 private:
  int workers_;
  std::map<int, std::int64_t> held_;
  std::set<int> dropped_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_DRAIN_BARRIER_H_
