#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WORKER_ROWS_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WORKER_ROWS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/job/summary/metrics_log.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/job/watch/progress.h"

namespace ringside {

/// What the workers of a run have measured so far, step by step. It is also written into the bundle
/// as it comes. Used by one thread.
class WorkerRows {
 public:
  using Clock = std::chrono::steady_clock;

  /// `begin`: of the run. Throws `DataError` when a file of `bundle_dir` cannot be created,
  /// `ResourceError` when there is no thread to write them.
  WorkerRows(const std::string& bundle_dir, int workers, Clock::time_point begin);

  /// Takes what has come since the last call. `see` gets the steps of each worker. Returns why rows
  /// cannot be written, the first time that this is known; then the bundle lacks rows. Does not
  /// wait for the disk.
  std::optional<std::string> TakeFrom(JobState& job_state,
                                      const std::function<void(std::span<const StepRecord>)>& see);

  /// Waits until the bundle has all rows that were taken, or `storage_error` says why not.
  void Drain();
  /// The same for at most `wait`. Returns whether the bundle has them, or `TakeFrom` says why not.
  bool DrainWithin(std::chrono::milliseconds wait) const { return metrics_.DrainWithin(wait); }

  /// By rank; only their steps are filled in.
  const std::vector<WorkerRecord>& workers() const { return workers_; }
  const std::optional<HashedEvaluation>& last_evaluation() const { return evaluation_; }
  /// From the start of the run to its first step.
  const std::optional<double>& startup_seconds() const { return startup_seconds_; }
  /// Why something is missing from the bundle; empty: nothing is.
  const std::string& storage_error() const { return storage_error_; }
  ReportedSteps steps() const;
  Progress& progress() { return progress_; }

 private:
  const Clock::time_point begin_;
  MetricsLog metrics_;
  Progress progress_;
  std::vector<WorkerRecord> workers_;
  std::optional<HashedEvaluation> evaluation_;
  std::optional<double> startup_seconds_;
  std::string storage_error_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WORKER_ROWS_H_
