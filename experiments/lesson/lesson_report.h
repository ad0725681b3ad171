#ifndef RINGSIDE_EXPERIMENTS_LESSON_LESSON_REPORT_H_
#define RINGSIDE_EXPERIMENTS_LESSON_LESSON_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/lesson/lesson.h"
#include "ringside/experiments/lesson/lesson_runner.h"

namespace ringside {

/// A lesson, how it was run, and what somebody predicted. All is borrowed.
struct LessonReport {
  const Lesson& lesson;
  const LessonSetting& setting;
  const LessonOutcome& outcome;
  std::optional<double> prediction;
};

/// Pure functions, except that they look for recordings in the bundles. Any thread may call them.

/// Whether the prediction is within the tolerance. Absent without a prediction, and where the
/// machine limited a run: what was measured then says as much about the machine.
std::optional<bool> IsRight(const LessonReport& report);

/// The answer for people, in lines of at most 80 characters where they can be broken.
std::string LessonText(const LessonReport& report);
/// The answer for programs: schema ringside.lesson/1.
nlohmann::json LessonJson(const LessonReport& report);

/// All lessons in a line or two each.
std::string LessonListText(const std::vector<Lesson>& lessons);
/// All lessons with all their texts: schema ringside.lessons/1.
nlohmann::json LessonListJson(const std::vector<Lesson>& lessons);

/// "Lesson 3: ..." and the question, as it is shown before somebody predicts.
std::string QuestionText(const Lesson& lesson);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_LESSON_REPORT_H_
