#include "ringside/experiments/job/coordinator/clock_offset.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {

std::int64_t SteadyNanoseconds() {
  const auto now = DilatedClock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

bool IsClockReading(const ClockReading& reading) {
  const auto is_time = [](std::int64_t nanoseconds) {
    return nanoseconds >= -kMostClockNanoseconds && nanoseconds <= kMostClockNanoseconds;
  };
  return is_time(reading.at) && is_time(reading.offset) && is_time(reading.uncertainty);
}

ClockReading BestReading(std::span<const ClockExchange> exchanges) {
  const auto round_trip = [](const ClockExchange& exchange) {
    return exchange.answered - exchange.asked;
  };
  const auto best = std::ranges::min_element(exchanges, {}, round_trip);
  const std::int64_t half = round_trip(*best) / 2;
  const std::int64_t middle = best->asked + half;
  return {middle, best->answer - middle, half + 1};  // half of an odd round trip is rounded down
}

ClockCorrection::ClockCorrection(std::vector<ClockReading> readings)
    : readings_(std::move(readings)) {
  std::ranges::sort(readings_, {}, &ClockReading::at);
  shared_ = std::ranges::all_of(readings_, [](const ClockReading& reading) {
    return std::abs(reading.offset) <= reading.uncertainty;
  });
}

std::int64_t ClockCorrection::ToCoordinator(std::int64_t member) const {
  if (shared_) return member;
  const ClockReading& first = readings_.front();
  const ClockReading& last = readings_.back();
  if (first.at == last.at) return member + first.offset;
  const double share =
      static_cast<double>(member - first.at) / static_cast<double>(last.at - first.at);
  const auto drift = static_cast<double>(last.offset - first.offset);
  constexpr auto kMost = static_cast<double>(kMostClockNanoseconds);
  return member + first.offset + std::llround(std::clamp(drift * share, -kMost, kMost));
}

}  // namespace ringside
