#ifndef RINGSIDE_EXPERIMENTS_JOB_WATCH_STATE_WATCH_H_
#define RINGSIDE_EXPERIMENTS_JOB_WATCH_STATE_WATCH_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/watch/wait_report.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/system/output/console.h"

namespace ringside {

/// Looks at what the workers and servers of a job say that they are doing: names stragglers while
/// the job runs, and keeps what they said last. Used by one thread.
class StateWatch {
 public:
  /// Borrows all; `begin`: of the job.
  StateWatch(const RunSpec& spec, const JobState& job_state, Console& console,
             std::chrono::steady_clock::time_point begin);

  void AddSteps(std::span<const StepRecord> steps) { stragglers_.AddSteps(steps); }
  /// Warns of stragglers. When there is a first failure, keeps what the members were doing.
  void Look();
  /// The first failure is forgiven.
  void ForgetFailure() { at_failure_.clear(); }
  /// The job is decided; its members are there still.
  void LookAtEnd() { at_end_ = StatesNow(); }
  /// `WaitJson` of the first failure, or of the end if there was none. Prints it, too, if any
  /// worker had begun.
  nlohmann::json LastWords() const;
  /// The first of all that were printed.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<MemberState> StatesNow() const;
  void Warn(const std::optional<std::string>& warning);

  const RunSpec& spec_;
  const JobState& job_state_;
  Console& console_;
  const std::chrono::steady_clock::time_point begin_;
  const int servers_;
  StragglerWatch stragglers_;
  std::chrono::steady_clock::time_point next_look_;
  std::vector<MemberState> at_failure_;  // empty before
  std::vector<MemberState> at_end_;
  std::vector<std::string> warnings_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_WATCH_STATE_WATCH_H_
