#ifndef RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_
#define RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_

#include <signal.h>

namespace ringside {

/// Turns SIGINT and SIGTERM into readable bytes while it lives; then the dispositions of before are
/// restored. A handler that writes to a pipe, not signalfd, because threads that gRPC started
/// earlier do not have the signals blocked. Watches nest, and then share what comes: what nobody
/// has taken when an inner one begins or goes is there for the other. Made and destroyed on one
/// thread.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Readable when a signal has come.
  int fd() const;
  /// Number of signals since the last call of any watch. Never waits.
  int Take();

 private:
  bool outermost_;
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_
