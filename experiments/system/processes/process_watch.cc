#include "ringside/experiments/system/processes/process_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ringside {
namespace {

/// -1 with errno set if there is none.
int OpenProcess(pid_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  static_cast<void>(pid);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace

ProcessWatch::ProcessWatch(pid_t pid) : process_(OpenProcess(pid)) {
  was_gone_ = process_.get() < 0 && errno == ESRCH;
}

bool ProcessWatch::HasEnded() const {
  pollfd entry{.fd = process_.get(), .events = POLLIN, .revents = 0};
  // Poll ignores a descriptor that is not there.
  return was_gone_ || (::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0);
}

}  // namespace ringside
