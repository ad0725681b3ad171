#include "ringside/experiments/job/watch/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

/// A step of two workers ends every `step_time` of the machine; 10 samples each.
std::string LineAfter(int steps, seconds step_time) {
  Progress progress;
  progress.set_total_steps(100);
  const Progress::Clock::time_point begin{};
  for (int step = 0; step < steps; ++step) {
    const std::array<StepRecord, 1> record{StepRecord{.step = step, .samples = 10}};
    const auto now = begin + (step + 1) * step_time;
    progress.Add(0, record, now);
    progress.Add(1, record, now + std::chrono::milliseconds(200));
  }
  return progress.Line();
}

TEST(Progress, SaysRateAndTimeLeft) {
  EXPECT_THAT(LineAfter(11, seconds(1)), HasSubstr("step 11/100  20 samples/s"));
  EXPECT_THAT(LineAfter(11, seconds(1)), HasSubstr("1 min 29 s left"));
  EXPECT_THAT(LineAfter(0, seconds(1)), HasSubstr("starting"));
}

TEST(Progress, OfADilatedRunHasRatesOfItsClockAndTheMachinesTimeLeft) {
  const DilationScope dilation(10);
  const std::string line = LineAfter(11, seconds(10));
  EXPECT_THAT(line, HasSubstr("step 11/100  20 samples/s"));
  EXPECT_THAT(line, HasSubstr("14 min 50 s left"));
}

TEST(Progress, KnowsTheRateOfStepsLongerThanItsWindow) {
  EXPECT_THAT(LineAfter(5, seconds(100)), HasSubstr("0 samples/s"));
  EXPECT_THAT(LineAfter(5, seconds(100)), HasSubstr("h"));
}

}  // namespace
}  // namespace ringside
