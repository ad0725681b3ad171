#include "ringside/experiments/lesson/grade.h"

#include <fmt/format.h>

#include <cmath>

namespace ringside {

double AllowedDistance(const Lesson& lesson, const Answer& answer) {
  return lesson.relative ? lesson.tolerance * std::abs(answer.value) : lesson.tolerance;
}

bool IsWithin(const Lesson& lesson, const Answer& answer, double prediction) {
  return std::abs(prediction - answer.value) <= AllowedDistance(lesson, answer);
}

std::string ToleranceText(const Lesson& lesson) {
  if (lesson.relative) return fmt::format("{:g} % of the answer", lesson.tolerance * 100);
  return fmt::format("{:g} {}", lesson.tolerance, lesson.unit);
}

}  // namespace ringside
