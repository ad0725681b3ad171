#ifndef RINGSIDE_COMMON_BASE_AWAKE_CLOCK_H_
#define RINGSIDE_COMMON_BASE_AWAKE_CLOCK_H_

#include <chrono>

namespace ringside {

/// The monotonic clock without the times in which this whole process was stopped, for instance by
/// SIGSTOP, Ctrl-Z or a frozen cgroup. Leases on other processes are measured with it, because a
/// process that was stopped heard nothing through no fault of theirs. The first call starts a
/// thread that wakes up every 0.1 s. If that thread was late by a second or more, the process
/// counts as stopped for that time. Thread-safe.
std::chrono::steady_clock::time_point AwakeNow();

/// A time in which this process was stopped.
struct ProcessStop {
  std::chrono::nanoseconds length{0};
  std::chrono::steady_clock::time_point end;
};

/// The last stop since the first call of either function; a length of 0 if there was none.
ProcessStop LastStop();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_AWAKE_CLOCK_H_
