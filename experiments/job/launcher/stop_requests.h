#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_STOP_REQUESTS_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_STOP_REQUESTS_H_

#include <chrono>
#include <optional>
#include <string>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/signal_watch.h"
#include "ringside/experiments/system/processes/suspend_watch.h"

namespace ringside {

/// What a user asks of a running job by signals: to stop after the current step (SIGINT, SIGTERM),
/// to be killed (a second one of these), or to sleep (SIGTSTP, Ctrl-Z). Also knows whether this
/// process was stopped in another way. Used by one thread.
class StopRequests {
 public:
  /// Borrows all. `timeout_s`: the limit of one operation of the run.
  StopRequests(SignalWatch& signals, JobState& job_state, Console& console, double timeout_s);

  /// Stops of this process before now had no influence on the members.
  void Begin();
  /// Readable when a signal has come.
  int fd() const { return signals_.fd(); }
  /// Returns why the job must be ended now: a second signal, or workers that do not stop.
  std::optional<std::string> Take();
  /// Tells the members of a Ctrl-Z, then stops this process.
  void TakeSuspension();
  /// Whether a user asked the run to end, here or at an agent, however late.
  bool Requested();
  /// Whether members may just have given up because this process was stopped for a lease.
  bool WasStoppedTooLong() const;

 private:
  using Clock = std::chrono::steady_clock;

  SignalWatch& signals_;
  JobState& job_state_;
  Console& console_;
  const std::chrono::duration<double> drain_limit_;  // in the machine's time
  SuspendWatch suspend_watch_;
  bool signalled_ = false;                      // this process itself; then the next signal kills
  std::optional<Clock::time_point> drain_end_;  // absent until the job shall stop
  std::optional<Clock::time_point> suspend_at_;
  Clock::time_point excused_until_;  // stops until then were before the job, or by Ctrl-Z
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_STOP_REQUESTS_H_
