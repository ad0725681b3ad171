#ifndef RINGSIDE_COMMON_BASE_DILATED_CLOCK_H_
#define RINGSIDE_COMMON_BASE_DILATED_CLOCK_H_

#include <atomic>
#include <chrono>
#include <ratio>

namespace ringside {

/// The steady clock of a run under time dilation. It runs `factor` times slower than the machine's
/// `std::chrono::steady_clock`: one of its seconds takes `factor` seconds of the machine. With
/// factor 1, the default, the two are the same clock.
///
/// Everything that a run reports is measured with this clock, and emulated compute waits on it. So
/// a machine that is slower than the emulated cluster has `factor` times as long for each step
/// (Gupta et al., "To Infinity and Beyond: Time-Warped Network Emulation", NSDI 2006).
///
/// The factor belongs to the process. It is set before the first step; a change makes the clock
/// jump. All processes of a machine with the same factor have the same clock. Thread-safe.
class DilatedClock {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the standard library wants these names
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DilatedClock>;
  static constexpr bool is_steady = true;

  static time_point now() { return FromMachine(std::chrono::steady_clock::now()); }
  // NOLINTEND(readability-identifier-naming)

  /// Sets the factor, at least 1 and finite. Throws `ConfigError` for any other.
  static void SetFactor(double factor);
  static double Factor() { return current_factor.load(std::memory_order_relaxed); }

  /// The times and durations of the machine that correspond to those of this clock, and back.
  static time_point FromMachine(std::chrono::steady_clock::time_point at) {
    return time_point(Divided(at.time_since_epoch()));
  }
  static std::chrono::steady_clock::time_point ToMachine(time_point at) {
    return std::chrono::steady_clock::time_point(Multiplied(at.time_since_epoch()));
  }
  /// For limits of time: a timeout of 30 s is 300 s of the machine with factor 10.
  template <typename Rep, typename Period>
  static std::chrono::duration<Rep, Period> ToMachine(std::chrono::duration<Rep, Period> duration) {
    using Duration = std::chrono::duration<Rep, Period>;
    const double now = Factor();
    return now == 1 ? duration
                    : Duration(static_cast<Rep>(static_cast<long double>(duration.count()) * now));
  }

  /// Blocks the thread until the clock shows `until`.
  static void SleepUntil(time_point until);
  static void SleepFor(duration time) { SleepUntil(now() + time); }

 private:
  friend class DilationScope;

  // A long double has 64 bits of precision on x86, so a nanosecond is not lost in years.
  static duration Divided(std::chrono::nanoseconds machine) {
    const double factor = DilatedClock::Factor();
    if (factor == 1) return machine;
    return duration(static_cast<rep>(static_cast<long double>(machine.count()) / factor));
  }
  static std::chrono::nanoseconds Multiplied(duration dilated) {
    const double factor = DilatedClock::Factor();
    if (factor == 1) return dilated;
    return std::chrono::nanoseconds(
        static_cast<rep>(static_cast<long double>(dilated.count()) * factor));
  }

  static std::atomic<double> current_factor;
};

/// Sets the factor of this process's clock, and sets it back to what it was at its end.
class DilationScope {
 public:
  explicit DilationScope(double factor) : before_(DilatedClock::Factor()) {
    DilatedClock::SetFactor(factor);
  }
  /// Does not check the factor, which was in force before. So it cannot throw.
  ~DilationScope() { DilatedClock::current_factor.store(before_, std::memory_order_relaxed); }
  DilationScope(const DilationScope&) = delete;
  DilationScope& operator=(const DilationScope&) = delete;

 private:
  const double before_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_DILATED_CLOCK_H_
