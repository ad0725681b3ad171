#ifndef RINGSIDE_EXPERIMENTS_JOB_WATCH_WAIT_REPORT_H_
#define RINGSIDE_EXPERIMENTS_JOB_WATCH_WAIT_REPORT_H_

#include <chrono>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/measure/activity.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// What a worker or a server last said, and how long ago. A plain value. Times are the run's.
struct MemberState {
  Member who{};
  Activity activity{};
  double activity_seconds = 0;  ///< How long it had lasted when the member said it.
  double silent_seconds = 0;    ///< Since then.
  bool left = false;            ///< It has handed in its result.
  bool failed = false;          ///< It is known to have failed.

  /// "worker 1 computes step 17 for 3.2 s"; with the silence, if it is longer than a few beats.
  std::string Text() const;
};

/// The states of the workers and servers that have joined and that the job has not lost, workers
/// first. `now` is by `AwakeNow`.
std::vector<MemberState> MemberStates(const JobState& job, int workers, int servers,
                                      std::chrono::steady_clock::time_point now);

/// The members for whom others wait, as far as is known: those that have failed; else those that
/// are silent; else the workers that do not wait themselves, if another worker waits. Empty when
/// nobody waits.
std::vector<Member> HeldUpBy(std::span<const MemberState> members);

/// All states in one text: "worker 1 computes step 17 for 3.2 s; worker 0 waits for ...". The
/// members of `HeldUpBy` come first.
std::string WaitText(std::span<const MemberState> members);
/// An array of {"member", "text", "activity", "step", "bucket", "peer", "seconds",
/// "silent_seconds", "left", "failed"}, those of `HeldUpBy` first. "text" is `MemberState::Text`.
/// "activity" is null before the member begins, "bucket" where none is awaited, "peer" where the
/// member waits for nobody in particular.
nlohmann::json WaitJson(std::span<const MemberState> members);

/// Names a member that holds the others up before it is declared dead. Used by one thread.
class StragglerWatch {
 public:
  void AddSteps(std::span<const StepRecord> steps);
  /// A warning of the members that have been silent for 2 s; once for each silence.
  std::optional<std::string> NameSilent(std::span<const MemberState> members);
  /// A warning of the workers whose computing lasts three times as long as a median step, and at
  /// least a second, while another worker waits half as long. At most once a minute for each
  /// worker, and a line in 5 s. `now` is a time of the run in seconds.
  std::optional<std::string> NameSlow(std::span<const MemberState> members, double now);
  /// A warning of the workers that have been writing a checkpoint for 10 s while another worker
  /// waits: a disk may not answer. At most once a minute for each worker. `now` as above.
  std::optional<std::string> NameLongCheckpoint(std::span<const MemberState> members, double now);

 private:
  /// Warned of when, in seconds of the run.
  using Warnings = std::map<Member, double>;
  /// Whether the last warning of this worker is not long ago. If it is, there is one now.
  static bool WarnedLately(Warnings& warnings, const Member& who, double now);
  std::optional<double> MedianSeconds() const;
  static bool IsSlow(const MemberState& member, double limit_seconds);

  std::set<Member> silent_;  // those whose silence has been named
  std::deque<double> recent_ms_;
  Warnings slow_;
  Warnings long_checkpoints_;
  std::optional<double> last_warning_;  // of slow ones, in seconds of the run
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_WATCH_WAIT_REPORT_H_
