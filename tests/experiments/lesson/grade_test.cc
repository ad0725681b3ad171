#include "ringside/experiments/lesson/grade.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

Lesson LessonWith(ToleranceKind kind, double tolerance) {
  Lesson lesson;
  lesson.unit = "points";
  lesson.tolerance = tolerance;
  lesson.tolerance_kind = kind;
  return lesson;
}

bool Within(ToleranceKind kind, double tolerance, double answer, double prediction) {
  return IsWithin(LessonWith(kind, tolerance), {.value = answer}, prediction);
}

TEST(Grade, AShareOfTheAnswer) {
  EXPECT_TRUE(Within(ToleranceKind::kShare, 0.1, 2, 2.2));
  EXPECT_TRUE(Within(ToleranceKind::kShare, 0.1, 2, 1.8));
  EXPECT_FALSE(Within(ToleranceKind::kShare, 0.1, 2, 2.21));
  EXPECT_FALSE(Within(ToleranceKind::kShare, 0.1, 2, 1.79));
  EXPECT_TRUE(Within(ToleranceKind::kShare, 0.1, -2, -2.2));
}

TEST(Grade, ADistanceInUnits) {
  EXPECT_TRUE(Within(ToleranceKind::kUnits, 0.5, 3, 3.5));
  EXPECT_FALSE(Within(ToleranceKind::kUnits, 0.5, 3, 4));
  EXPECT_TRUE(Within(ToleranceKind::kUnits, 0.1, 1, 1.1)) << "the limit itself is within";
  EXPECT_TRUE(Within(ToleranceKind::kUnits, 4, 0, -4));
}

TEST(Grade, AFactorInBothDirections) {
  EXPECT_TRUE(Within(ToleranceKind::kFactor, 2, 3, 6));
  EXPECT_TRUE(Within(ToleranceKind::kFactor, 2, 3, 1.5));
  EXPECT_FALSE(Within(ToleranceKind::kFactor, 2, 3, 6.1));
  EXPECT_FALSE(Within(ToleranceKind::kFactor, 2, 3, 1.4));
  EXPECT_FALSE(Within(ToleranceKind::kFactor, 2, 3, 0));
  EXPECT_FALSE(Within(ToleranceKind::kFactor, 2, 3, -3));
}

TEST(Grade, SaysTheTolerance) {
  const auto text = [](ToleranceKind kind, double tolerance) {
    return ToleranceText(LessonWith(kind, tolerance));
  };
  EXPECT_EQ(text(ToleranceKind::kShare, 0.15), "15 % of the answer");
  EXPECT_EQ(text(ToleranceKind::kUnits, 3), "3 points");
  EXPECT_EQ(text(ToleranceKind::kFactor, 1.8), "a factor of 1.8");
}

}  // namespace
}  // namespace ringside
