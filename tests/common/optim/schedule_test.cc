#include "ringside/common/optim/schedule.h"

#include <gtest/gtest.h>

#include <memory>

namespace ringside {
namespace {

using Kind = ScheduleOptions::Kind;

TEST(ScheduleTest, ConstantIsConstant) {
  const Schedule schedule({.base = 0.3});
  EXPECT_DOUBLE_EQ(schedule.At(0), 0.3);
  EXPECT_DOUBLE_EQ(schedule.At(1'000'000), 0.3);
}

TEST(ScheduleTest, GivenRatesCountInsteadOfAllElse) {
  const auto rates = std::make_shared<GivenRates>(0.5);
  const Schedule schedule({.base = 9, .scale_with_workers = true, .workers = 8, .given = rates});
  EXPECT_EQ(schedule.At(0), 0.5);
  EXPECT_EQ(schedule.At(1000), 0.5);
}

TEST(ScheduleTest, AGivenRateHoldsFromItsStepOn) {
  GivenRates rates(0.5);
  rates.Set(0, 0.4);
  EXPECT_EQ(rates.At(0), 0.4);
  rates.Set(1, 0.3);
  EXPECT_EQ(rates.At(0), 0.4) << "an update of the step before may still be under way";
  EXPECT_EQ(rates.At(1), 0.3);
  rates.Set(5, 0.1);
  EXPECT_EQ(rates.At(4), 0.3);
  EXPECT_EQ(rates.At(6), 0.1);
}

TEST(ScheduleTest, StepDecaysAtMultiples) {
  const Schedule schedule({.kind = Kind::kStep, .base = 1, .step_every = 10, .gamma = 0.5});
  EXPECT_DOUBLE_EQ(schedule.At(9), 1);
  EXPECT_DOUBLE_EQ(schedule.At(10), 0.5);
  EXPECT_DOUBLE_EQ(schedule.At(19), 0.5);
  EXPECT_DOUBLE_EQ(schedule.At(20), 0.25);
}

TEST(ScheduleTest, CosineFallsFromBaseToTheFinalFraction) {
  const Schedule schedule(
      {.kind = Kind::kCosine, .base = 2, .total_steps = 100, .final_fraction = 0.1});
  EXPECT_DOUBLE_EQ(schedule.At(0), 2);
  EXPECT_NEAR(schedule.At(50), 2 * 0.55, 1e-12);
  EXPECT_NEAR(schedule.At(100), 0.2, 1e-12);
  EXPECT_NEAR(schedule.At(1000), 0.2, 1e-12) << "stays there";
  for (int step = 0; step < 100; ++step) EXPECT_GT(schedule.At(step), schedule.At(step + 1));
}

TEST(ScheduleTest, WarmUpIsLinear) {
  const Schedule schedule({.base = 1, .warmup_steps = 4});
  EXPECT_DOUBLE_EQ(schedule.At(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.At(1), 0.5);
  EXPECT_DOUBLE_EQ(schedule.At(3), 1);
  EXPECT_DOUBLE_EQ(schedule.At(4), 1);
  EXPECT_DOUBLE_EQ(Schedule({.base = 1, .warmup_steps = 1}).At(0), 1);
}

TEST(ScheduleTest, WarmUpEndsAtTheScaledRate) {
  const Schedule schedule(
      {.base = 0.1, .scale_with_workers = true, .workers = 8, .warmup_steps = 5});
  EXPECT_DOUBLE_EQ(schedule.At(0), 0.02);
  EXPECT_DOUBLE_EQ(schedule.At(2), (0.02 + 0.8) / 2);
  EXPECT_DOUBLE_EQ(schedule.At(4), 0.8);
  EXPECT_DOUBLE_EQ(schedule.At(5), 0.8);
}

TEST(ScheduleTest, ScalesWithWorkersOnlyWhenAsked) {
  EXPECT_DOUBLE_EQ(Schedule({.base = 0.1, .workers = 8}).At(0), 0.1);
  EXPECT_DOUBLE_EQ(Schedule({.base = 0.1, .scale_with_workers = true, .workers = 8}).At(0), 0.8);
}

TEST(ScheduleTest, CosineBeginsAfterTheWarmUp) {
  const Schedule schedule(
      {.kind = Kind::kCosine, .base = 1, .warmup_steps = 10, .total_steps = 110});
  EXPECT_DOUBLE_EQ(schedule.At(9), 1);
  EXPECT_DOUBLE_EQ(schedule.At(10), 1);
  EXPECT_NEAR(schedule.At(60), 0.5, 1e-12);
  EXPECT_NEAR(schedule.At(110), 0, 1e-12);
}

TEST(ScheduleTest, DegenerateLengthsDoNotDivideByZero) {
  EXPECT_DOUBLE_EQ(Schedule({.kind = Kind::kStep, .base = 1, .step_every = 0}).At(0), 1);
  const Schedule all_warm_up(
      {.kind = Kind::kCosine, .base = 1, .warmup_steps = 10, .total_steps = 10});
  EXPECT_DOUBLE_EQ(all_warm_up.At(9), 1);
  EXPECT_NEAR(all_warm_up.At(11), 0, 1e-12);
}

}  // namespace
}  // namespace ringside
