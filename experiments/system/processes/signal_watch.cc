#include "ringside/experiments/system/processes/signal_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// A signal handler takes no argument for our data, so only a global can pass the descriptor.
std::atomic<int> handler_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<int> watches{0};

/// The pipe is never closed: a handler may still run on another thread when the last watch ends.
struct SignalPipe {
  SignalPipe() {
    std::array<int, 2> fds;
    if (::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      throw InternalError("no pipe for signals");
    read_fd = fds[0];
    handler_fd.store(fds[1]);
  }
  int read_fd;
};

const SignalPipe& OwnPipe() {
  static const SignalPipe pipe;
  return pipe;
}

extern "C" void WriteSignal(int signal) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(signal);
  const int fd = handler_fd.load(std::memory_order_relaxed);
  if (fd >= 0 && ::write(fd, &byte, 1) < 0) errno = saved_errno;
  errno = saved_errno;
}

}  // namespace

SignalWatch::SignalWatch() {
  static_cast<void>(OwnPipe());
  outermost_ = watches.fetch_add(1) == 0;
  if (!outermost_) return;
  while (Take() > 0) {
    // Drops the signals that an earlier watch did not take.
  }
  struct sigaction action {};
  action.sa_handler = WriteSignal;
  action.sa_flags = SA_RESTART;
  // Here and below: `sigaction` fails only for a number that is no signal, for SIGKILL and SIGSTOP,
  // and for a bad address.
  static_cast<void>(::sigaction(SIGINT, &action, &old_int_));
  static_cast<void>(::sigaction(SIGTERM, &action, &old_term_));
}

SignalWatch::~SignalWatch() {
  watches.fetch_sub(1);
  if (!outermost_) return;
  static_cast<void>(::sigaction(SIGINT, &old_int_, nullptr));
  static_cast<void>(::sigaction(SIGTERM, &old_term_, nullptr));
}

int SignalWatch::fd() const { return OwnPipe().read_fd; }

int SignalWatch::Take() {
  std::array<char, 64> bytes;
  const ssize_t count = ::read(fd(), bytes.data(), bytes.size());
  return count > 0 ? static_cast<int>(count) : 0;
}

}  // namespace ringside
