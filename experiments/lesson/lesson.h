#ifndef RINGSIDE_EXPERIMENTS_LESSON_LESSON_H_
#define RINGSIDE_EXPERIMENTS_LESSON_LESSON_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ringside {

/// A lesson as a value: a question, the runs that answer it, and the function from their results to
/// the answer. Nothing here starts a process. All types are plain values; the two functions of a
/// lesson are pure, so any thread may call them.

/// What the runs of a lesson may use.
struct LessonSetting {
  std::string directory;  ///< Where the bundles go.
  bool quick = false;     ///< Fewer runs and steps, for tests.
  bool emulated = false;  ///< This machine can emulate links.
};

/// One command line of `ringside`.
struct LessonRun {
  std::string name;                ///< "ring-8": how the answer finds its result.
  std::vector<std::string> words;  ///< After "ringside".
  std::string bundle = {};         ///< Its directory; empty: the result is the JSON on its stdout.
  std::string freeze = {};         ///< "server 0": is stopped after the first checkpoint.
  int exit_code = 0;               ///< What it must end with.
};

/// The result of each run by its name: summary.json, with `rank_step_ms` (per rank the times of the
/// counted steps), or what the run printed.
using LessonResults = std::map<std::string, nlohmann::json>;

struct LessonInterval {
  double low = 0;
  double high = 0;
  std::string of;  ///< "95 %, over seeds": what it spans.
};

/// A row of the table below an answer.
struct Figure {
  std::string what;
  std::optional<double> value;  ///< Measured; empty: there is only the theory.
  std::string unit;
  std::optional<double> bound = {};  ///< The best value that theory allows, or what it predicts.
};

/// Something that the lesson says and its runs show, or do not show.
struct LessonCheck {
  std::string claim;
  bool held = false;
};

struct Answer {
  double value = 0;
  std::optional<LessonInterval> interval = {};
  std::string why_no_interval = "it is an exact count";
  std::optional<double> bound = {};  ///< The same quantity by theory.
  std::vector<Figure> figures = {};
  std::vector<LessonCheck> checks = {};
};

/// How a prediction is compared with the measured answer.
enum class ToleranceKind {
  kShare,   ///< The tolerance is a share of the answer.
  kUnits,   ///< It is a distance, in the unit of the lesson.
  kFactor,  ///< The larger of the two is at most so many times the smaller one.
};

enum class NeedOfLinks {
  kNone,
  kBetter,    ///< Without emulated links the answer counts bytes instead of time.
  kRequired,  ///< Without them there is no answer.
};

struct Lesson {
  int number = 0;
  std::string name;      ///< "one-server": the name of its page.
  std::string question;  ///< Ends with what is to be predicted.
  std::string quantity;  ///< What the prediction is, in a few words.
  std::string unit;      ///< "times", "ms", "servers".
  double tolerance = 0;  ///< How far a prediction may be from the measured answer.
  ToleranceKind tolerance_kind = ToleranceKind::kShare;
  std::string explanation;  ///< About a hundred words.
  std::string mistake;      ///< What students often predict, and why it is wrong.
  NeedOfLinks links = NeedOfLinks::kNone;
  /// The run that the demo shows beside the first one; empty: the second.
  std::string beside = {};
  /// What stands under "theory" where steps are timed.
  std::string theory = "The theory of a step is its bound: no schedule can be faster.";
  std::vector<LessonRun> (*plan)(const LessonSetting& setting) = nullptr;
  Answer (*answer)(const LessonSetting& setting, const LessonResults& results) = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LESSON_LESSON_H_
