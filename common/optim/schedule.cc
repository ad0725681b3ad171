#include "ringside/common/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ringside {
namespace {

double StepFactor(const ScheduleOptions& options, std::int64_t step) {
  const std::int64_t every = std::max<std::int64_t>(1, options.step_every);
  const std::int64_t falls = step / every;  // whole ones
  return std::pow(options.gamma, static_cast<double>(falls));
}

// Half a cosine over the steps after the warm-up (Loshchilov and Hutter, 2017, without restarts).
double CosineFactor(const ScheduleOptions& options, std::int64_t step) {
  const std::int64_t length = std::max<std::int64_t>(1, options.total_steps - options.warmup_steps);
  const double progress =
      std::min(1.0, static_cast<double>(step - options.warmup_steps) / static_cast<double>(length));
  const double falling = 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return options.final_fraction + (1 - options.final_fraction) * falling;
}

double DecayFactor(const ScheduleOptions& options, std::int64_t step) {
  switch (options.kind) {
    case ScheduleOptions::Kind::kStep:
      return StepFactor(options, step);
    case ScheduleOptions::Kind::kCosine:
      return CosineFactor(options, step);
    case ScheduleOptions::Kind::kConstant:
      break;
  }
  return 1;
}

// Without scaling the rate is base x (step + 1) / warmup_steps.
double WarmUp(const ScheduleOptions& options, double peak, std::int64_t step) {
  const auto steps = static_cast<double>(options.warmup_steps);
  if (options.warmup_steps == 1) return peak;
  const double start = options.base / steps;
  return start + (peak - start) * static_cast<double>(step) / (steps - 1);
}

}  // namespace

void GivenRates::Set(std::int64_t step, double rate) {
  const std::lock_guard lock(mutex_);
  if (step > step_) rate_before_ = rate_;
  step_ = step;
  rate_ = rate;
}

double GivenRates::At(std::int64_t step) const {
  const std::lock_guard lock(mutex_);
  return step < step_ ? rate_before_ : rate_;
}

double Schedule::At(std::int64_t step) const {
  if (options_.given != nullptr) return options_.given->At(step);
  const double peak =
      options_.scale_with_workers ? options_.base * options_.workers : options_.base;
  if (step < options_.warmup_steps) return WarmUp(options_, peak, step);
  return peak * DecayFactor(options_, step);
}

}  // namespace ringside
