#ifndef RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_WATCH_H_
#define RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_WATCH_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/processes/child_group.h"
#include "ringside/experiments/system/processes/process_watch.h"

namespace ringside {

/// Finds out which members of a job have died, have fallen silent or never came, adds them to the
/// job's failures, and decides whom to blame. Used by one thread; borrows the job and its children.
class MemberWatch {
 public:
  struct Options {
    std::chrono::milliseconds lease;  ///< Of every member, in the machine's time.
    std::chrono::milliseconds join_timeout;
    /// No process outside of `children` can report another failure.
    bool all_are_children = true;
    /// The agents are processes of this machine, so their end can be seen. Nobody else tells it:
    /// mpirun only ends, some time later, with a number.
    bool agents_are_here = false;
    /// Where a process of the run was to be started, if another program starts agents for it.
    std::function<std::string(const Member&)> host_of{};
    bool runs_user_program = false;  ///< Workers are `RunSpec::program`.
    bool steps_together = false;     ///< Workers wait for each other's steps.
    /// Asked about each failure that this class finds. True: the job goes on without the member, so
    /// it is no failure of the job.
    std::function<bool(const Failure&)> goes_on_without{};
  };

  /// The time to join begins now.
  MemberWatch(JobState& job_state, ChildGroup& children, const Options& options);

  /// Looks at all members once.
  void Look();
  /// The failure that explains the others, once it is decided. A first failure may be the
  /// consequence of another one, so others have a short time to come in.
  std::optional<Failure> Culprit();
  /// The failure that `Culprit` returned is forgiven: the next one gets its own time.
  void ForgetCulprit() { decide_at_.reset(); }

 private:
  using Clock = std::chrono::steady_clock;

  void LookAtEnds();
  void LookAtAgents();
  void LookAtLost();
  void LookAtMissing();
  /// Programs that end after different numbers of steps.
  void LookAtEnded();
  void AddFailure(const Failure& failure);
  /// Adds the failure of a lost member, once.
  void AddLost(const Member& who, const std::string& message);

  JobState& job_state_;
  ChildGroup& children_;
  const Options options_;
  const Clock::time_point begin_;  // by `AwakeNow`
  std::map<Member, ProcessWatch> agents_;
  std::vector<Member> lost_;
  bool too_early_ = false;  // a program has ended too early, which is told
  std::optional<Clock::time_point> decide_at_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_WATCH_MEMBER_WATCH_H_
