#ifndef RINGSIDE_EXPERIMENTS_LESSON_LESSON_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_LESSON_LESSON_RUNNER_H_

#include <functional>
#include <string>
#include <vector>

#include "ringside/experiments/lesson/lesson.h"
#include "ringside/experiments/lesson/lesson_process.h"

namespace ringside {

/// What became of the runs of a lesson.
struct LessonOutcome {
  LessonStatus status = LessonStatus::kDone;
  Answer answer;                      ///< Of a lesson that is done.
  std::vector<std::string> commands;  ///< The lines that were run, in order.
  std::vector<std::string> bundles;   ///< Their directories.
  /// "workers-8: why": the runs that the machine limited, also when they were made once more.
  std::vector<std::string> limited{};
  double seconds = 0;
};

/// Called before each run.
using LessonProgress =
    std::function<void(const std::string& command, std::size_t done, std::size_t planned)>;

/// Throws `MissingBackendError` if the lesson needs emulated links, and there are none.
void CheckLinks(const Lesson& lesson, bool emulated);

/// Carries out the runs of a lesson, one after another, as child processes of this executable, and
/// answers it from their results. A run that the machine limited is made once more. A signal or a
/// late run ends the lesson and its processes. Throws `MissingBackendError` where a run lacks
/// something of this machine, `Error` where a run ends otherwise than planned, with its last words.
/// Call it from one thread.
LessonOutcome RunLesson(const Lesson& lesson, const LessonSetting& setting,
                        const LessonProgress& progress);

struct LinkSupport {
  LessonStatus status = LessonStatus::kDone;
  bool emulated = false;
};
/// Whether this machine can emulate links, as `ringside doctor` finds out. A signal ends it.
LinkSupport ProbeLinks();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_LESSON_RUNNER_H_
