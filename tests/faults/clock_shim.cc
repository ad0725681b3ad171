// A library to preload: the clock of the day of a program jumps an hour forth and an hour back. If
// the variable RINGSIDE_FAULT_CLOCK_AHEAD is there, the clock is so many seconds ahead instead; it
// may be negative.
//
// It stands in for an administrator, or a time service, that sets the clock. The monotonic clock
// goes on as it does, because nobody can set that. Once a process has seen the other time, there is
// the file that the variable RINGSIDE_FAULT_ONCE names.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::time_t kJumpSeconds = 3600;
constexpr int kPhasesPerSecond = 5;  // the clock jumps after each

int RealClock(clockid_t clock, timespec* now) {
  return static_cast<int>(syscall(SYS_clock_gettime, clock, now));
}

void Mark() {
  static std::atomic<bool> marked = false;
  if (marked.exchange(true)) return;
  const int error = errno;
  const char* path = std::getenv("RINGSIDE_FAULT_ONCE");
  if (path != nullptr) {
    const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);  // whoever waits for the file says that it is missing
  }
  errno = error;
}

std::time_t Jump() {
  if (const char* ahead = std::getenv("RINGSIDE_FAULT_CLOCK_AHEAD")) {
    Mark();
    return std::atol(ahead);
  }
  timespec monotonic{};
  if (RealClock(CLOCK_MONOTONIC, &monotonic) != 0) return 0;
  const long in_second = monotonic.tv_nsec * kPhasesPerSecond / 1'000'000'000;
  const bool forth = (monotonic.tv_sec * kPhasesPerSecond + in_second) % 2 == 0;
  Mark();
  return forth ? kJumpSeconds : -kJumpSeconds;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the C library's names
extern "C" int clock_gettime(clockid_t clock, timespec* now) {
  const int result = RealClock(clock, now);
  const bool of_the_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && of_the_day) now->tv_sec += Jump();
  return result;
}

extern "C" int gettimeofday(timeval* now, void*) {
  timespec time{};
  const int result = clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return result;
}

extern "C" std::time_t time(std::time_t* out) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
// NOLINTEND(readability-identifier-naming)
