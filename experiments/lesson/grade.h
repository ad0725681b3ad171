#ifndef RINGSIDE_EXPERIMENTS_LESSON_GRADE_H_
#define RINGSIDE_EXPERIMENTS_LESSON_GRADE_H_

#include <string>

#include "ringside/experiments/lesson/lesson.h"

namespace ringside {

/// Pure functions; any thread may call them.

/// Whether a prediction is within the tolerance of the measured answer. The limit itself is within.
bool IsWithin(const Lesson& lesson, const Answer& answer, double prediction);

/// "15 % of the answer", "3 points", "a factor of 2".
std::string ToleranceText(const Lesson& lesson);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_GRADE_H_
