#ifndef RINGSIDE_COMMON_BASE_DEADLINE_H_
#define RINGSIDE_COMMON_BASE_DEADLINE_H_

#include <algorithm>
#include <chrono>

namespace ringside {

/// A time on the monotonic clock by which a wait must end. Every blocking wait of Ringside takes
/// one. Changing the wall clock does not affect it.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline After(Clock::duration duration) { return Deadline(Clock::now() + duration); }

  explicit Deadline(Clock::time_point at) : at_(at) {}

  Clock::time_point at() const { return at_; }
  bool expired() const { return Clock::now() >= at_; }
  /// Never negative.
  std::chrono::milliseconds remaining() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(at_ - Clock::now());
    return std::max(left, std::chrono::milliseconds::zero());
  }

 private:
  Clock::time_point at_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_DEADLINE_H_
