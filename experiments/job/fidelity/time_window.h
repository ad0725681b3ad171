#ifndef RINGSIDE_EXPERIMENTS_JOB_FIDELITY_TIME_WINDOW_H_
#define RINGSIDE_EXPERIMENTS_JOB_FIDELITY_TIME_WINDOW_H_

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace ringside {

/// A time on the machine's monotonic clock, which all processes of this machine share.
struct TimeWindow {
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin, end;

  double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;
};

/// The key of a worker's report under which `WindowsJson` is: the times within its counted steps.
inline constexpr char kCountedWindowsKey[] = "counted_windows_ns";

/// [[begin, end], ...] in nanoseconds of the clock.
nlohmann::json WindowsJson(std::span<const TimeWindow> windows);
/// Reads such a list. Throws `InternalError` when it is none, or when its windows are not in order.
std::vector<TimeWindow> ReadWindows(const nlohmann::json& json);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_TIME_WINDOW_H_
