#include "ringside/common/base/awake_clock.h"

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

  Clock::time_point AwakeNow() {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Look();
    return now - stopped_;
  }

  ProcessStop LastStop() {
    const std::lock_guard lock(mutex_);
    Look();
    return last_stop_;
  }

 private:
  [[noreturn]] void Run() {
    while (true) {
      std::this_thread::sleep_for(kTick);
      const std::lock_guard lock(mutex_);
      Look();
    }
  }

  /// Looks at the clock, with the mutex. So no stop lies between the look and its use.
  Clock::time_point Look() {
    const Clock::time_point now = Clock::now();
    const Clock::duration gap = now - last_;
    if (ticking_ && gap > kTick + kLongestDelay) {
      last_stop_ = {.length = gap - kTick, .end = now};
      stopped_ += last_stop_.length;
    }
    last_ = now;
    return now;
  }

  std::mutex mutex_;
  bool ticking_ = true;                    // set by the constructor alone
  Clock::time_point last_ = Clock::now();  // guarded by mutex_
  Clock::duration stopped_{0};             // guarded by mutex_
  ProcessStop last_stop_;                  // guarded by mutex_
};

Watch& TheWatch() {
  // Never destroyed: its thread runs until the process ends.
  static auto* const watch = new Watch;  // NOLINT(cppcoreguidelines-owning-memory)
  return *watch;
}

}  // namespace

std::chrono::steady_clock::time_point AwakeNow() { return TheWatch().AwakeNow(); }

ProcessStop LastStop() { return TheWatch().LastStop(); }

}  // namespace ringside
