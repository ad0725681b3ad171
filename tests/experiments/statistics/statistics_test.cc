#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/comparison.h"
#include "ringside/experiments/statistics/outliers.h"
#include "ringside/experiments/statistics/quantile.h"
#include "ringside/experiments/statistics/scaling.h"
#include "ringside/experiments/statistics/warmup.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using Values = std::vector<double>;

TEST(Quantile, LiesBetweenItsNeighbours) {
  EXPECT_FALSE(Median({}).has_value());
  EXPECT_DOUBLE_EQ(*Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(*Quantile({10, 20, 30, 40, 50}, 0.1), 14);
  EXPECT_DOUBLE_EQ(*Quantile({10, 20}, 1), 20);
}

TEST(Quantile, BearsRunsThatNeverGotThere) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(*Median({1, kNever, 2}), 2);
  EXPECT_EQ(*Median({1, kNever, kNever, kNever}), kNever);
  EXPECT_EQ(*Median({1, kNever}), kNever);
}

TEST(MedianBootstrap, WantsFiveRuns) {
  MedianBootstrap bootstrap;
  EXPECT_FALSE(bootstrap.IntervalOf({1, 2, 3, 4}).has_value());
  EXPECT_TRUE(bootstrap.IntervalOf({1, 2, 3, 4, 5}).has_value());
}

TEST(MedianBootstrap, IsTheSameForEqualSamplesInAnyOrder) {
  MedianBootstrap bootstrap;
  MedianBootstrap another;
  const Values values{10.2, 9.7, 10.9, 10.0, 9.9, 10.4};
  const auto interval = bootstrap.IntervalOf(values);
  EXPECT_EQ(another.IntervalOf({10.4, 9.9, 10.0, 10.9, 9.7, 10.2}), interval);
  // An earlier call must not change the result.
  bootstrap.IntervalOf({1, 2, 3, 4, 5});
  EXPECT_EQ(bootstrap.IntervalOf(values), interval);
}

TEST(MedianBootstrap, HoldsTheMedianWithinTheSample) {
  MedianBootstrap bootstrap;
  const auto interval = bootstrap.IntervalOf({5, 1, 4, 2, 3});
  EXPECT_LE(interval->low, 3);
  EXPECT_GE(interval->high, 3);
  EXPECT_GE(interval->low, 1);
  EXPECT_LE(interval->high, 5);
  EXPECT_EQ(bootstrap.IntervalOf({7, 7, 7, 7, 7}), (ConfidenceInterval{7, 7}));
}

TEST(MedianBootstrap, NarrowsWithMoreRuns) {
  MedianBootstrap bootstrap;
  Values few;
  Values many;
  for (int i = 0; i < 7; ++i) few.push_back(i * 10);
  for (int i = 0; i < 61; ++i) many.push_back(i);
  const auto wide = bootstrap.IntervalOf(few);
  const auto narrow = bootstrap.IntervalOf(many);
  EXPECT_LT(narrow->high - narrow->low, wide->high - wide->low);
}

TEST(ResampleSource, NeverChanges) {
  ResampleSource source(7);
  std::vector<std::size_t> drawn;
  for (int i = 0; i < 8; ++i) drawn.push_back(source.Below(10));
  EXPECT_EQ(drawn, (std::vector<std::size_t>{3, 0, 9, 5, 4, 2, 4, 3}));
}

TEST(ResampleSource, CoversItsRangeEvenly) {
  ResampleSource source(7);
  std::vector<int> counts(5);
  for (int i = 0; i < 50'000; ++i) ++counts.at(source.Below(5));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Comparison, PairsCancelWhatTheyShare) {
  // Each repetition has its own noise, which affects both sides.
  const Values noise{1, 1.5, 0.7, 2, 1.2, 0.9};
  Values a;
  Values b;
  for (const double factor : noise) {
    a.push_back(20 * factor);
    b.push_back(10 * factor);
  }
  const Comparison paired = ComparePaired(a, b);
  EXPECT_TRUE(paired.paired);
  EXPECT_EQ(paired.runs, 6U);
  EXPECT_DOUBLE_EQ(*paired.ratio, 2);
  EXPECT_NEAR(paired.interval->low, 2, 1e-12);
  EXPECT_NEAR(paired.interval->high, 2, 1e-12);
  EXPECT_DOUBLE_EQ(*paired.p_greater, 1);
  const Comparison independent = CompareIndependent(a, b);
  EXPECT_FALSE(independent.paired);
  EXPECT_LT(independent.interval->low, 1.7);
  EXPECT_GT(independent.interval->high, 2.3);
}

TEST(Comparison, TiesCountHalf) {
  EXPECT_DOUBLE_EQ(*ComparePaired(Values{1, 2, 3, 4}, Values{1, 1, 4, 4}).p_greater, 0.5);
  EXPECT_DOUBLE_EQ(*CompareIndependent(Values{1, 3}, Values{1, 2}).p_greater, 0.625);
}

TEST(Comparison, FewRunsGivePointsAlone) {
  const Comparison comparison = ComparePaired(Values{2, 4, 6, 8}, Values{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(*comparison.ratio, 2);
  EXPECT_FALSE(comparison.interval.has_value());
  const Comparison lopsided = CompareIndependent(Values{1, 2, 3, 4, 5, 6}, Values{1, 2});
  EXPECT_EQ(lopsided.runs, 2U);
  EXPECT_FALSE(lopsided.interval.has_value());
}

TEST(Comparison, SurvivesNothingAndZeros) {
  EXPECT_FALSE(ComparePaired({}, {}).ratio.has_value());
  EXPECT_FALSE(CompareIndependent(Values{1}, {}).p_greater.has_value());
  const Comparison zeros = ComparePaired(Values{1, 1, 1, 1, 1}, Values{0, 0, 0, 0, 0});
  EXPECT_FALSE(zeros.ratio.has_value());
  EXPECT_FALSE(zeros.interval.has_value());
}

TEST(Outliers, MarksTheOneFarAway) {
  EXPECT_THAT(Outliers(Values{10, 10.1, 9.9, 10.05, 14}),
              ElementsAre(false, false, false, false, true));
  // Among values that are spread as far, it is no outlier.
  EXPECT_THAT(Outliers(Values{10, 12, 8, 11, 14}), ElementsAre(false, false, false, false, false));
}

TEST(Outliers, SaysNothingOfFewOrEqualValues) {
  EXPECT_THAT(Outliers(Values{1, 1, 1, 100}), ElementsAre(false, false, false, false));
  EXPECT_THAT(Outliers(Values{1, 1, 1, 1, 100}), ElementsAre(false, false, false, false, false));
}

TEST(Warmup, FindsWhereTheSeriesSettles) {
  Values steps(60, 0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i] = 10 + 0.25 * static_cast<double>(i % 5) + (i < 15 ? 20 : 0);
  }
  const Warmup warmup = DetectWarmup(steps);
  EXPECT_TRUE(warmup.judged);
  EXPECT_TRUE(warmup.settled);
  EXPECT_EQ(warmup.length, 15U);
}

TEST(Warmup, ASteadySeriesHasNone) {
  const Values steady(40, 3.5);
  EXPECT_TRUE(DetectWarmup(steady).settled);
  EXPECT_EQ(DetectWarmup(steady).length, 0U);
}

TEST(Warmup, KnowsASeriesThatNeverSettles) {
  Values falling;
  for (int i = 0; i < 50; ++i) falling.push_back(100 - i);
  const Warmup warmup = DetectWarmup(falling);
  EXPECT_TRUE(warmup.judged);
  EXPECT_FALSE(warmup.settled);
}

TEST(Warmup, DoesNotJudgeFewSteps) { EXPECT_FALSE(DetectWarmup(Values(19, 1)).judged); }

TEST(Warmup, AShortOneIsNamedOnlyIfItChangesTheMean) {
  Values slow_start(40, 10);
  for (std::size_t i = 0; i < 10; ++i) slow_start[i] = 30;
  EXPECT_EQ(JudgeWarmup(slow_start, 3).detected, 10U);
  EXPECT_EQ(JudgeWarmup(slow_start, 3).too_short, true);
  EXPECT_EQ(JudgeWarmup(slow_start, 10).too_short, false);
  for (std::size_t i = 0; i < 10; ++i) slow_start[i] = 10.1;
  EXPECT_EQ(JudgeWarmup(slow_start, 3).detected, 10U);
  EXPECT_EQ(JudgeWarmup(slow_start, 3).too_short, false) << "it changes 0.2 %";
}

TEST(Warmup, OfASeriesThatNeverSettlesTheLengthIsUnknown) {
  Values falling;
  for (int i = 0; i < 50; ++i) falling.push_back(100 - i);
  EXPECT_FALSE(JudgeWarmup(falling, 3).detected.has_value());
  EXPECT_EQ(JudgeWarmup(falling, 3).too_short, true);
  EXPECT_FALSE(JudgeWarmup(Values(19, 1), 3).too_short.has_value()) << "too few to judge";
}

TEST(Scaling, FitsALine) {
  const auto line = FitLine(Values{1, 2, 4, 8}, Values{5, 7, 11, 19});
  EXPECT_DOUBLE_EQ(line->slope, 2);
  EXPECT_DOUBLE_EQ(line->intercept, 3);
  EXPECT_DOUBLE_EQ(line->r2, 1);
  EXPECT_FALSE(FitLine(Values{2, 2}, Values{1, 3}).has_value());
  EXPECT_FALSE(FitLine({}, {}).has_value());
  EXPECT_DOUBLE_EQ(FitLine(Values{1, 2}, Values{4, 4})->r2, 1);
}

TEST(Scaling, SerialFractionsAgreeWithAmdahlsLaw) {
  constexpr double kSerial = 0.07;
  Values workers;
  Values speedups;
  for (const double p : {2.0, 4.0, 8.0}) {
    workers.push_back(p);
    speedups.push_back(1 / (kSerial + (1 - kSerial) / p));
    EXPECT_NEAR(*KarpFlatt(speedups.back(), p), kSerial, 1e-12);
  }
  EXPECT_NEAR(*FitAmdahl(workers, speedups), kSerial, 1e-12);
}

TEST(Scaling, SerialFractionNeedsMoreThanOneWorker) {
  EXPECT_FALSE(KarpFlatt(1, 1).has_value());
  EXPECT_FALSE(KarpFlatt(0, 4).has_value());
  EXPECT_FALSE(FitAmdahl(Values{1, 1}, Values{1, 1}).has_value());
  EXPECT_LT(*KarpFlatt(5, 4), 0);  // more than linear
}

}  // namespace
}  // namespace ringside
