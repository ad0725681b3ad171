#include "ringside/experiments/report/study/study_ties.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

Comparison With(double ratio, double low, double high) {
  return {true, 5, ratio, ConfidenceInterval{low, high}, 1};
}

Comparison Points(double ratio, std::size_t runs, double p_greater) {
  return {true, runs, ratio, {}, p_greater};
}

TEST(StudyTies, ADifferenceSmallerThanItsUncertaintyIsATie) {
  EXPECT_EQ(TieOf(With(1.2, 0.99, 1.5)), Tie::kUncertain);
  EXPECT_EQ(TieOf(With(0.8, 0.6, 1.0)), Tie::kUncertain);
  EXPECT_EQ(TieOf(With(1.2, 1.01, 1.5)), Tie::kNone);
}

TEST(StudyTies, AnIntervalWithinTwoPercentIsATie) {
  EXPECT_EQ(TieOf(With(1.01, 1.005, 1.019)), Tie::kSmall);
  EXPECT_EQ(TieOf(With(0.99, 0.985, 0.995)), Tie::kSmall);
  EXPECT_EQ(TieOf(With(1.015, 1.005, 1.03)), Tie::kNone);
}

TEST(StudyTies, UnderTwoPercentWithASingleRunIsATie) {
  EXPECT_EQ(TieOf(Points(1.019, 1, 1)), Tie::kSmall);
  EXPECT_EQ(TieOf(Points(1 / 1.019, 1, 0)), Tie::kSmall);
  EXPECT_EQ(TieOf(Points(1.021, 1, 1)), Tie::kNone);
}

TEST(StudyTies, FewRunsThatDisagreeAreATie) {
  EXPECT_EQ(TieOf(Points(1.1, 3, 2.0 / 3)), Tie::kUncertain);
  EXPECT_EQ(TieOf(Points(1.1, 3, 1)), Tie::kNone);
  EXPECT_EQ(TieOf(Comparison{}), Tie::kNone) << "nothing was compared";
}

TEST(StudyTies, AreCalledTies) {
  EXPECT_EQ(ResultText(With(1.01, 1.005, 1.019)), "tie within 2 %");
  EXPECT_EQ(ResultText(With(1.2, 0.9, 1.5)), "tie within their uncertainty");
  EXPECT_EQ(ResultText(With(1.2, 1.1, 1.5)), "faster");
  EXPECT_EQ(ResultText(Points(0.9, 1, 0)), "slower, no interval");
}

}  // namespace
}  // namespace ringside
