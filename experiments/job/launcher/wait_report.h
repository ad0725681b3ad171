#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WAIT_REPORT_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WAIT_REPORT_H_

#include <chrono>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/measure/activity.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// What one worker last said, and how long ago. A plain value. Times are the run's.
struct WorkerState {
  int rank = 0;
  Activity activity{};
  double activity_seconds = 0;  ///< How long it had lasted when the worker said it.
  double silent_seconds = 0;    ///< Since then.
  bool left = false;            ///< It has handed in its result.
  bool failed = false;          ///< It is known to have failed.

  /// "worker 1 computes step 17 for 3.2 s"; with the silence, if it is longer than a few beats.
  std::string Text() const;
};

/// The states of the workers that have joined and that the job has not lost, by rank. `now` is by
/// `AwakeNow`.
std::vector<WorkerState> WorkerStates(const JobState& job, int workers,
                                      std::chrono::steady_clock::time_point now);

/// The workers for whom others wait, as far as is known: those that have failed; else those that
/// are silent; else those that do not wait themselves, if another one waits. Empty when nobody
/// waits.
std::vector<int> HeldUpBy(std::span<const WorkerState> workers);

/// All states in one text: "worker 1 computes step 17 for 3.2 s; worker 0 waits for ...". The
/// workers of `HeldUpBy` come first.
std::string WaitText(std::span<const WorkerState> workers);
/// An array of {"worker", "text", "activity", "step", "bucket", "seconds", "silent_seconds",
/// "left", "failed"}, those of `HeldUpBy` first. "text" is `WorkerState::Text`. "activity" is null
/// before the training thread begins, "bucket" where none is awaited.
nlohmann::json WaitJson(std::span<const WorkerState> workers);

/// Names a worker that holds the others up before it is declared dead: one that is silent, or whose
/// computing lasts three times as long as a median step, and at least a second, while another
/// worker waits half as long. At most once a minute. Used by one thread.
class StragglerWatch {
 public:
  void AddSteps(std::span<const StepRecord> steps);
  /// A warning, if there is a new one. `now` is a time of the run in seconds.
  std::optional<std::string> Look(std::span<const WorkerState> workers, double now);

 private:
  std::optional<double> MedianSeconds() const;
  static bool IsSlow(const WorkerState& worker, double limit_seconds);

  std::deque<double> recent_ms_;
  std::optional<double> last_warning_;  // in seconds of the run
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_WAIT_REPORT_H_
