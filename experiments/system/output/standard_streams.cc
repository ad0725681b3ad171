#include "ringside/experiments/system/output/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ringside {

// The kernel gives the lowest free number, and those below are open by then.
bool OpenClosedStandardStreams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool closed = fcntl(number, F_GETFD) < 0 && errno == EBADF;
    if (closed && open("/dev/null", O_RDWR) != number) return false;
  }
  return true;
}

std::string FlushStandardOutput() {
  if (std::fflush(stdout) != 0) return std::strerror(errno);
  return std::ferror(stdout) != 0 ? "an earlier write failed" : "";
}

}  // namespace ringside
