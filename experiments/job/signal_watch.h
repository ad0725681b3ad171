#ifndef RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_
#define RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_

#include <signal.h>

#include "experiments/job/files.h"

namespace ringside {

/// Turns SIGINT and SIGTERM into readable bytes while it lives; then the dispositions of before are
/// restored. A handler that writes to a pipe, not signalfd, because threads that gRPC started
/// earlier do not have the signals blocked. A second one in a process must go before the first: it
/// gets the signals meanwhile, and leaves to the first those that it has not taken. Made and
/// destroyed on one thread.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Readable when a signal has come.
  int fd() const { return read_.get(); }
  /// Number of signals since the last call. Never waits.
  int Take();

 private:
  FileDescriptor read_;
  FileDescriptor write_;
  int outer_fd_ = -1;  ///< Who got the signals before.
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SIGNAL_WATCH_H_
