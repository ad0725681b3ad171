#include "ringside/experiments/lesson/grade.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

// Decimal fractions are not exact: 2.3 is 0.3 above 2.
constexpr double kRounding = 1e-9;

bool WithinFactor(double a, double b, double factor) {
  if (a <= 0 || b <= 0) return a == b;
  return std::max(a, b) <= factor * std::min(a, b) + kRounding;
}

}  // namespace

bool IsWithin(const Lesson& lesson, const Answer& answer, double prediction) {
  const double distance = std::abs(prediction - answer.value);
  switch (lesson.tolerance_kind) {
    case ToleranceKind::kShare:
      return distance <= lesson.tolerance * std::abs(answer.value) + kRounding;
    case ToleranceKind::kUnits:
      return distance <= lesson.tolerance + kRounding;
    case ToleranceKind::kFactor:
      break;
  }
  return WithinFactor(prediction, answer.value, lesson.tolerance);
}

std::string ToleranceText(const Lesson& lesson) {
  switch (lesson.tolerance_kind) {
    case ToleranceKind::kShare:
      return fmt::format("{:g} % of the answer", lesson.tolerance * 100);
    case ToleranceKind::kUnits:
      return fmt::format("{:g} {}", lesson.tolerance, lesson.unit);
    case ToleranceKind::kFactor:
      break;
  }
  return fmt::format("a factor of {:g}", lesson.tolerance);
}

}  // namespace ringside
