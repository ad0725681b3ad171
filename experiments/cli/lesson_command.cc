#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/lesson/lesson_report.h"
#include "ringside/experiments/lesson/lesson_runner.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

/// How often a person at a terminal is asked for a number.
constexpr int kMostTries = 3;

OptionSet LessonOptions() {
  OptionSet options(
      "lesson", "ten questions: predict, then let real runs answer",
      {{"ringside lesson", "lists the lessons"},
       {"ringside lesson 3", "asks, takes a prediction at the prompt, runs, answers"},
       {"ringside lesson 3 --predict 2.5 --json",
        "for graders: exit code 0 where the prediction is within the tolerance, 5 where it is not"},
       {"ringside lesson 3 --quick", "fewer runs and steps"}});
  options.TakePositional({"NUMBER", "the lesson; without it they are listed", false});
  options.AddGroup("The lesson");
  options.Add({"predict", "X",
               "your prediction, in the lesson's unit; without it a terminal is asked, and "
               "elsewhere the lesson runs without one",
               ""});
  options.Add({"quick", "", "fewer runs and steps, for a first look and for tests", ""});
  options.Add({"loopback", "", "no emulated links, even if this machine can emulate them", ""});
  options.AddGroup("Results");
  options.Add({"out", "DIR", "directory of the bundles; empty: results/lessons/NUMBER", ""});
  options.Add({"json", "", "one JSON object on stdout", ""});
  options.Add({"quiet", "", "do not show the command lines on stderr while they run", ""});
  return options;
}

int List(const std::vector<Lesson>& lessons, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", LessonListJson(lessons).dump(2));
  } else {
    fmt::print("{}\n'ringside lesson NUMBER' runs one.\n", LessonListText(lessons));
  }
  return kExitDone;
}

const Lesson& FindLesson(const std::vector<Lesson>& lessons, const std::string& text) {
  std::int64_t number = 0;
  try {
    number = ParseInteger(text);
  } catch (const ConfigError& error) {
    throw UsageError(std::string("lesson: ") + error.what());
  }
  if (number < 1 || number > static_cast<std::int64_t>(lessons.size())) {
    throw UsageError(
        fmt::format("lesson: there is no lesson {}; 'ringside lesson' lists them", text));
  }
  return lessons[static_cast<std::size_t>(number - 1)];
}

/// Asks at a terminal, again after a line that is no number. An empty line and the end of the input
/// are no prediction. Throws `UsageError` after `kMostTries` such lines.
std::optional<double> Ask(const Lesson& lesson) {
  fmt::print(stderr, "{}\n", QuestionText(lesson));
  for (int attempt = 1;; ++attempt) {
    fmt::print(stderr, "Your prediction ({}; an empty line: none): ", lesson.unit);
    std::string line;
    if (!std::getline(std::cin, line) || line.empty()) return std::nullopt;
    try {
      return ParseReal(line);
    } catch (const ConfigError& error) {
      if (attempt == kMostTries) throw UsageError(std::string("the prediction: ") + error.what());
      PrintText(stderr, "{}. Type a number, such as 2.5.\n", error.what());
    }
  }
}

std::optional<double> Prediction(const ParsedOptions& parsed, const Lesson& lesson) {
  if (parsed.Has("predict")) return ReadFlag(parsed, "predict", ParseReal);
  if (isatty(STDIN_FILENO) == 1) return Ask(lesson);
  fmt::print(stderr, "no prediction is graded: give one by --predict\n");
  return std::nullopt;
}

LessonSetting SettingOf(const ParsedOptions& parsed, const Lesson& lesson, bool emulated) {
  LessonSetting setting{.directory = parsed.Get("out"), .quick = parsed.IsOn("quick")};
  if (setting.directory.empty())
    setting.directory = fmt::format("results/lessons/{}", lesson.number);
  setting.emulated = emulated;
  return setting;
}

LinkSupport LinksFor(const ParsedOptions& parsed, const Lesson& lesson) {
  if (lesson.links == NeedOfLinks::kRequired && parsed.IsOn("loopback")) {
    throw UsageError("--loopback: this lesson needs emulated links");
  }
  if (lesson.links == NeedOfLinks::kNone || parsed.IsOn("loopback")) return {};
  return ProbeLinks();
}

int ExitCodeOf(LessonStatus status) {
  if (status == LessonStatus::kTimedOut) return kExitTimedOut;
  return status == LessonStatus::kInterrupted ? kExitInterrupted : kExitDone;
}

int ExitCode(const LessonReport& report) {
  if (report.outcome.status != LessonStatus::kDone) return ExitCodeOf(report.outcome.status);
  if (const std::optional<bool> right = IsRight(report)) {
    return *right ? kExitDone : kExitComparisonFailed;
  }
  // The machine limited the runs, so it is too slow to judge a prediction.
  return report.prediction ? kExitMissingBackend : kExitDone;
}

void Print(const LessonReport& report, bool as_json) {
  if (report.outcome.status != LessonStatus::kDone) {
    fmt::print(stderr, "ringside: the lesson {}\n",
               report.outcome.status == LessonStatus::kTimedOut ? "took longer than its limit"
                                                                : "was interrupted");
  } else if (as_json) {
    fmt::print("{}\n", LessonJson(report).dump(2));
  } else {
    PrintText(stdout, "{}", LessonText(report));
  }
}

}  // namespace

int RunLessonCommand(const Arguments& args, const Catalog&) {
  const OptionSet options = LessonOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const std::vector<Lesson> lessons = Lessons();
  if (parsed.positionals().empty()) return List(lessons, parsed.IsOn("json"));
  const Lesson& lesson = FindLesson(lessons, parsed.positional());
  const LinkSupport links = LinksFor(parsed, lesson);
  if (links.status != LessonStatus::kDone) return ExitCodeOf(links.status);
  CheckLinks(lesson, links.emulated);
  const std::optional<double> prediction = Prediction(parsed, lesson);
  const LessonSetting setting = SettingOf(parsed, lesson, links.emulated);
  const SudoOwnershipTransfer ownership(setting.directory, CurrentEnvironment());
  const bool quiet = parsed.IsOn("quiet");
  const LessonOutcome outcome = RunLesson(
      lesson, setting, [&](const std::string& command, std::size_t done, std::size_t all) {
        if (!quiet) PrintText(stderr, "[{}/{}] {}\n", done + 1, all, command);
      });
  const LessonReport report{lesson, setting, outcome, prediction};
  Print(report, parsed.IsOn("json"));
  return ExitCode(report);
}

}  // namespace ringside
