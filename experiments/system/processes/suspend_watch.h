#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SUSPEND_WATCH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SUSPEND_WATCH_H_

#include <signal.h>

namespace ringside {

/// Lets a process tell others before Ctrl-Z (SIGTSTP) stops it. During its lifetime SIGTSTP only
/// sets a mark. The destructor restores the earlier disposition; a mark that was not taken then
/// stops the process. At most one exists at a time.
class SuspendWatch {
 public:
  SuspendWatch();
  ~SuspendWatch();
  SuspendWatch(const SuspendWatch&) = delete;
  SuspendWatch& operator=(const SuspendWatch&) = delete;

  /// Returns whether the user asked for a stop since the last call.
  bool TakeRequest();
  /// Stops this process. Returns when SIGCONT lets it go on.
  static void StopThisProcess();

 private:
  struct sigaction old_ {};
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SUSPEND_WATCH_H_
