#include "ringside/experiments/statistics/steady_warmup.h"

#include <algorithm>
#include <chrono>

#include "ringside/experiments/statistics/warmup.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

/// Operations between the last agreement and the timed operations, so that no worker's times begin
/// with the end of a wait.
constexpr int kLeadIn = 5;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

WarmupReport RunFixed(int operations, const WarmupCalls& calls) {
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < operations; ++i) calls.run();
  return {operations, MillisecondsSince(begin), std::nullopt};
}

WarmupReport RunUntilSteady(const WarmupCalls& calls, const WarmupLimits& limits) {
  const Clock::time_point begin = Clock::now();
  SteadyWarmup warmup(limits);
  std::vector<double> values;
  while (!warmup.done()) {
    values.assign(warmup.values(), 0);
    for (double& value : values) {
      for (int i = 0; i < warmup.operations_per_value(); ++i) value += calls.run();
    }
    values.push_back(MillisecondsSince(begin));
    calls.slowest(values);
    const double elapsed_ms = values.back();
    values.pop_back();
    warmup.Add(values, elapsed_ms);
  }
  // None after the limit of time: an operation may take seconds.
  const int more = warmup.steady() ? kLeadIn : 0;
  for (int i = 0; i < more; ++i) calls.run();
  return {warmup.operations() + more, warmup.elapsed_ms(), warmup.steady()};
}

}  // namespace

void SteadyWarmup::Add(std::span<const double> times_us, double elapsed_ms) {
  times_us_.insert(times_us_.end(), times_us.begin(), times_us.end());
  operations_ += static_cast<int>(times_us.size()) * per_value_;
  elapsed_ms_ = elapsed_ms;
  const Warmup found = DetectWarmup(times_us_);
  steady_ = elapsed_ms >= limits_.least_ms && found.judged && found.settled;
  done_ = steady_ || elapsed_ms >= limits_.most_ms;
  if (times_us_.size() >= kMostValues) Merge();
  next_ = NextBatch();
}

void SteadyWarmup::Merge() {
  const std::size_t half = times_us_.size() / 2;
  for (std::size_t i = 0; i < half; ++i) times_us_[i] = times_us_[2 * i] + times_us_[2 * i + 1];
  times_us_.resize(half);
  per_value_ *= 2;
}

std::size_t SteadyWarmup::NextBatch() const {
  const double value_ms = elapsed_ms_ / static_cast<double>(times_us_.size());
  const double left_ms = std::max(0.0, limits_.most_ms - elapsed_ms_);
  const double most = value_ms > 0 ? left_ms / value_ms : static_cast<double>(kMostValues);
  const std::size_t same_again = std::min(times_us_.size(), kMostValues - times_us_.size());
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::min(most, 1e6)), 1, same_again);
}

WarmupReport WarmUp(std::optional<int> operations, const WarmupCalls& calls,
                    const WarmupLimits& limits) {
  return operations ? RunFixed(*operations, calls) : RunUntilSteady(calls, limits);
}

}  // namespace ringside
