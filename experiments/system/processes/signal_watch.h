#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SIGNAL_WATCH_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SIGNAL_WATCH_H_

#include <signal.h>

namespace ringside {

/// Turns SIGINT and SIGTERM into readable bytes during its lifetime. The destructor restores the
/// earlier dispositions. It uses a handler that writes to a pipe. signalfd would not work, because
/// threads that gRPC started earlier do not block the signals. Watches can be nested and share the
/// signals: a signal that was not taken when an inner watch begins or ends stays for the other
/// watch. Make and destroy watches on one thread.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// A descriptor that is readable when a signal has come.
  int fd() const;
  /// The number of signals since the last call on any watch. Never waits.
  int Take();

 private:
  bool outermost_;
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_SIGNAL_WATCH_H_
