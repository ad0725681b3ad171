#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_COMPLETED_JOB_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_COMPLETED_JOB_H_

#include <chrono>
#include <optional>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/system/output/console.h"

namespace ringside {

/// What still runs of a job whose members have all handed in their results. A program of the user's
/// may go on as long as it likes: it evaluates, or saves its model. Any other process has nothing
/// left to do but to end. Used by one thread; borrows everything.
class CompletedJob {
 public:
  /// `workers_are_programs`: they are programs of the user's.
  CompletedJob(const JobState& job_state, const ChildGroup& children, bool workers_are_programs,
               Console& console)
      : job_state_(job_state),
        children_(children),
        workers_are_programs_(workers_are_programs),
        console_(console) {}

  /// Whether the job waits for nobody any more. Call it again and again once the job is complete.
  /// It says once for which programs it waits. It warns of other processes that do not end within
  /// ten seconds, and then waits no longer.
  bool IsOver();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<Member> Running() const;

  const JobState& job_state_;
  const ChildGroup& children_;
  const bool workers_are_programs_;
  Console& console_;
  std::optional<Clock::time_point> complete_since_;  // by `AwakeNow`, as the next one
  Clock::time_point without_programs_since_;
  bool told_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_COMPLETED_JOB_H_
