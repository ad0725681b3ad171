#include "ringside/common/core/awake_clock.h"

#include <mutex>
#include <system_error>
#include <thread>

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
// Busy cores delay a thread by tenths of a second, so only longer times count as a stop.
constexpr std::chrono::milliseconds kLongestDelay{1'000};

/// Sees how late it wakes up.
class Watch {
 public:
  Watch() {
    try {
      std::thread([this] { Run(); }).detach();
    } catch (const std::system_error&) {
      // No thread can start here. Then no stop is seen, and leases pass while the process is
      // stopped.
      ticking_ = false;
    }
  }

  /// Returns the time that the process was stopped until `now`.
  Clock::duration StoppedUntil(Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const Clock::duration gap = now - last_;
    if (ticking_ && gap > kTick + kLongestDelay) stopped_ += gap - kTick;
    if (now > last_) last_ = now;
    return stopped_;
  }

 private:
  [[noreturn]] void Run() {
    while (true) {
      std::this_thread::sleep_for(kTick);
      StoppedUntil(Clock::now());
    }
  }

  std::mutex mutex_;
  bool ticking_ = true;                    // set by the constructor alone
  Clock::time_point last_ = Clock::now();  // guarded by mutex_
  Clock::duration stopped_{0};             // guarded by mutex_
};

Watch& TheWatch() {
  // Never destroyed: its thread runs until the process ends.
  static auto* const watch = new Watch;  // NOLINT(cppcoreguidelines-owning-memory)
  return *watch;
}

}  // namespace

std::chrono::steady_clock::time_point AwakeNow() {
  Watch& watch = TheWatch();
  const Clock::time_point now = Clock::now();
  return now - watch.StoppedUntil(now);
}

std::chrono::nanoseconds StoppedTime() { return TheWatch().StoppedUntil(Clock::now()); }

}  // namespace ringside
