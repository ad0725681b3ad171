#ifndef RINGSIDE_COMMON_BASE_SIGPIPE_GUARD_H_
#define RINGSIDE_COMMON_BASE_SIGPIPE_GUARD_H_

#include <pthread.h>
#include <signal.h>

#include <ctime>

namespace ringside {

/// Blocks SIGPIPE on this thread during its lifetime, for writes to a pipe or socket whose reader
/// may have gone. Threads that this thread starts during that time inherit the mask.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    if (sigismember(&before_, SIGPIPE) == 1) return;
    const timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_SIGPIPE_GUARD_H_
