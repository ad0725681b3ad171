#include "ringside/common/base/dilated_clock.h"

#include <cmath>
#include <string>
#include <thread>

#include "ringside/common/base/errors.h"

namespace ringside {

std::atomic<double> DilatedClock::current_factor{1};

void DilatedClock::SetFactor(double factor) {
  if (!std::isfinite(factor) || factor < 1) {
    throw ConfigError("a clock cannot be dilated by " + std::to_string(factor) +
                      ": give a factor of 1 or more");
  }
  current_factor.store(factor, std::memory_order_relaxed);
}

void DilatedClock::SleepUntil(time_point until) { std::this_thread::sleep_until(ToMachine(until)); }

}  // namespace ringside
