#include "experiments/job/signal_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "common/errors.h"

namespace ringside {
namespace {

// A signal handler has no argument of its own: the one place where a global is the only way.
std::atomic<int> handler_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void WriteSignal(int signal) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(signal);
  const int fd = handler_fd.load(std::memory_order_relaxed);
  if (fd >= 0 && ::write(fd, &byte, 1) < 0) errno = saved_errno;
  errno = saved_errno;
}

}  // namespace

SignalWatch::SignalWatch() {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw InternalError("no pipe for signals");
  read_ = FileDescriptor(fds[0]);
  write_ = FileDescriptor(fds[1]);
  outer_fd_ = handler_fd.exchange(write_.get());
  struct sigaction action {};
  action.sa_handler = WriteSignal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
}

SignalWatch::~SignalWatch() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  handler_fd.store(outer_fd_);
  if (outer_fd_ < 0) return;
  for (int left = Take(); left > 0; --left) WriteSignal(SIGINT);
}

int SignalWatch::Take() {
  std::array<char, 64> bytes;
  const ssize_t count = ::read(read_.get(), bytes.data(), bytes.size());
  return count > 0 ? static_cast<int>(count) : 0;
}

}  // namespace ringside
