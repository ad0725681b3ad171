#include "ringside/experiments/worker/counted_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using Clock = TimeWindow::Clock;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Clock::time_point At(int time) { return Clock::time_point(std::chrono::seconds(time)); }

/// Runs steps `first` to `last` from `begin` on, a second each. Each is told as ended after the
/// next one has begun, as the training loop does; the last one ends by itself.
void RunSteps(CountedTime& counted, int first, int last, int begin) {
  for (int step = first; step <= last; ++step) {
    const int now = begin + step - first;
    counted.Begins(step, At(now));
    if (step > first) counted.Ends(step - 1, At(now));
  }
  counted.Ends(last, At(begin + last - first + 1));
}

TEST(CountedTime, IsAllOfARunWithoutWarmup) {
  CountedTime counted(0);
  RunSteps(counted, 0, 9, 100);
  EXPECT_THAT(counted.Windows(), ElementsAre(TimeWindow{At(100), At(110)}));
}

TEST(CountedTime, LeavesOutTheWarmupAndThenTheLastStep) {
  CountedTime counted(3);
  RunSteps(counted, 0, 9, 100);
  EXPECT_THAT(counted.Windows(), ElementsAre(TimeWindow{At(103), At(109)}));
}

TEST(CountedTime, KeepsTheOnlyCountedStep) {
  CountedTime counted(3);
  RunSteps(counted, 0, 3, 100);
  EXPECT_THAT(counted.Windows(), ElementsAre(TimeWindow{At(103), At(104)}));
}

TEST(CountedTime, IsNoneWithoutACountedStep) {
  CountedTime counted(3);
  EXPECT_THAT(counted.Windows(), IsEmpty());
  RunSteps(counted, 0, 2, 100);
  EXPECT_THAT(counted.Windows(), IsEmpty());
  counted.Begins(3, At(103));
  EXPECT_THAT(counted.Windows(), IsEmpty()) << "a step that did not end";
}

TEST(CountedTime, LeavesOutPauses) {
  CountedTime counted(1);
  RunSteps(counted, 0, 3, 100);
  RunSteps(counted, 4, 5, 200);
  EXPECT_THAT(counted.Windows(),
              ElementsAre(TimeWindow{At(101), At(104)}, TimeWindow{At(200), At(201)}));
}

TEST(CountedTime, LeavesOutALastStepAfterAPause) {
  CountedTime counted(1);
  RunSteps(counted, 0, 3, 100);
  RunSteps(counted, 4, 4, 200);
  EXPECT_THAT(counted.Windows(), ElementsAre(TimeWindow{At(101), At(104)}));
}

TEST(CountedTime, HasAMostNumberOfWindows) {
  CountedTime counted(0);
  const int most = CountedTime::kMostWindows;
  for (int step = 0; step < most + 5; ++step) RunSteps(counted, step, step, 10 * step);
  ASSERT_EQ(counted.Windows().size(), CountedTime::kMostWindows);
  EXPECT_EQ(counted.Windows().back(), (TimeWindow{At(10 * (most - 1)), At(10 * (most + 4) + 1)}));
}

}  // namespace
}  // namespace ringside
