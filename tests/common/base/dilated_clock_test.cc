#include "ringside/common/base/dilated_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

TEST(DilatedClock, IsTheMachinesClockUnlessDilated) {
  EXPECT_EQ(DilatedClock::Factor(), 1);
  const steady_clock::time_point at = steady_clock::now();
  EXPECT_EQ(DilatedClock::FromMachine(at).time_since_epoch(), at.time_since_epoch());
  EXPECT_EQ(DilatedClock::ToMachine(milliseconds(30)), milliseconds(30));
}

TEST(DilatedClock, RunsSlowerByTheFactor) {
  const DilationScope scope(10);
  const steady_clock::time_point begin{hours(5000)};
  const auto dilated =
      DilatedClock::FromMachine(begin + milliseconds(500)) - DilatedClock::FromMachine(begin);
  EXPECT_EQ(dilated, milliseconds(50));
  EXPECT_EQ(DilatedClock::ToMachine(milliseconds(50)), milliseconds(500));
  EXPECT_EQ(DilatedClock::ToMachine(std::chrono::duration<double>(0.25)).count(), 2.5);
}

TEST(DilatedClock, ConvertsThereAndBackToANanosecondAfterYears) {
  for (const double factor : {1.0, 1.5, 3.0, 10.0, 77.0, 600.0}) {
    const DilationScope scope(factor);
    const steady_clock::time_point machine(hours(50'000) + nanoseconds(123'456'789));
    const DilatedClock::time_point at = DilatedClock::FromMachine(machine);
    const auto error = DilatedClock::FromMachine(DilatedClock::ToMachine(at)) - at;
    EXPECT_LE(std::abs(error.count()), 1) << factor;
  }
}

TEST(DilatedClock, SleepsAtLeastTheDilatedTime) {
  const DilationScope scope(20);
  const steady_clock::time_point begin = steady_clock::now();
  DilatedClock::SleepFor(milliseconds(2));
  EXPECT_GE(steady_clock::now() - begin, milliseconds(40));
}

TEST(DilatedClock, RefusesFactorsThatAreNone) {
  for (const double factor : {0.0, 0.5, -1.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(DilatedClock::SetFactor(factor), ConfigError) << factor;
  }
  EXPECT_EQ(DilatedClock::Factor(), 1);
}

TEST(DilationScope, SetsTheFactorBack) {
  {
    const DilationScope outer(3);
    const DilationScope inner(5);
    EXPECT_EQ(DilatedClock::Factor(), 5);
  }
  EXPECT_EQ(DilatedClock::Factor(), 1);
}

}  // namespace
}  // namespace ringside
