#include "ringside/experiments/lesson/lesson_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ringside/experiments/lesson/grade.h"
#include "ringside/experiments/report/render/text_table.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kWidth = 80;
constexpr char kShortSteps[] =
    "A step here is a short one: nine of ten steps of the run took longer (the 10th percentile). "
    "Other programs on the machine can only make a step longer.";
constexpr char kByBytes[] =
    "This machine emulates no links, so this answer counts bytes instead of time. As root it often "
    "can; 'ringside doctor' says what is missing.";

/// Breaks a paragraph into lines.
std::string Wrap(const std::string& text) {
  std::string out;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return out + line + "\n";
}

std::string Number(double value) { return fmt::format("{:.4g}", value); }

std::string NumberOrDash(const std::optional<double>& value) {
  return value ? Number(*value) : "-";
}

std::string WithUnit(double value, const std::string& unit) {
  return unit.empty() ? Number(value) : Number(value) + " " + unit;
}

std::string VerdictText(const LessonReport& report, double prediction) {
  const std::string predicted = WithUnit(prediction, report.lesson.unit);
  const std::optional<bool> right = IsRight(report);
  if (!right) return predicted + ": not judged, because of the runs named below";
  return fmt::format("{}: {} the tolerance of {}", predicted,
                     *right ? "right, within" : "not right, outside", ToleranceText(report.lesson));
}

std::string LimitedText(const LessonOutcome& outcome) {
  return fmt::format(
      "These runs were limited by the machine, or could not be judged, twice each: {}. What they "
      "measured may say as much about the machine as about the links. End other programs, and run "
      "the lesson again.",
      fmt::join(outcome.limited, "; "));
}

std::string AnswerLines(const LessonReport& report) {
  const Answer& answer = report.outcome.answer;
  std::string out = fmt::format("  measured    {}\n", WithUnit(answer.value, report.lesson.unit));
  if (answer.interval) {
    out += fmt::format("  interval    {} to {} ({})\n", Number(answer.interval->low),
                       Number(answer.interval->high), answer.interval->of);
  } else {
    out += fmt::format("  interval    none: {}\n", answer.why_no_interval);
  }
  if (answer.bound) {
    out += fmt::format("  theory      {}\n", WithUnit(*answer.bound, report.lesson.unit));
  }
  if (report.prediction)
    out += fmt::format("  prediction  {}\n", VerdictText(report, *report.prediction));
  return out;
}

std::string FigureTable(const Answer& answer) {
  using Align = TextTable::Align;
  TextTable table({{"figure", Align::kLeft}, {"measured"}, {"theory"}, {"unit", Align::kLeft}});
  for (const Figure& figure : answer.figures) {
    table.AddRow(
        {figure.what, NumberOrDash(figure.value), NumberOrDash(figure.bound), figure.unit});
  }
  return table.Render();
}

std::string CheckLines(const Answer& answer) {
  if (answer.checks.empty()) return "";
  std::string out = "\n";
  for (const LessonCheck& check : answer.checks) {
    out += fmt::format("  {}  {}\n", check.held ? "yes" : "NO ", check.claim);
  }
  return out;
}

bool CountsBytes(const LessonReport& report) {
  return report.lesson.links == NeedOfLinks::kBetter && !report.setting.emulated;
}

bool TimesSteps(const LessonReport& report) {
  return report.lesson.links != NeedOfLinks::kNone && report.setting.emulated;
}

std::string StepNote(const Lesson& lesson) {
  return fmt::format("{} {}", kShortSteps, lesson.theory);
}

/// The bundles that `ringside demo` can show.
std::vector<std::string> Recorded(const LessonOutcome& outcome) {
  std::vector<std::string> recorded;
  for (const std::string& bundle : outcome.bundles) {
    if (fs::exists(fs::path(bundle) / "chunks.jsonl")) recorded.push_back(bundle);
  }
  return recorded;
}

/// Two runs side by side.
std::string DemoLine(const LessonReport& report) {
  const std::vector<std::string> recorded = Recorded(report.outcome);
  if (recorded.empty()) return "";
  std::vector<std::string> words{"ringside", "demo", recorded.front()};
  const auto is_beside = [&](const std::string& bundle) {
    return fs::path(bundle).filename() == report.lesson.beside;
  };
  const auto beside = std::ranges::find_if(recorded, is_beside);
  if (beside != recorded.end()) {
    words.push_back(*beside);
  } else if (recorded.size() > 1) {
    words.push_back(recorded[1]);
  }
  return JoinWords(words);
}

std::string PageOf(const Lesson& lesson) {
  return fmt::format("docs/lessons/{}-{}.md", lesson.number, lesson.name);
}

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

json FiguresJson(const Answer& answer) {
  json rows = json::array();
  for (const Figure& figure : answer.figures) {
    rows.push_back({{"what", figure.what},
                    {"value", OrNull(figure.value)},
                    {"bound", OrNull(figure.bound)},
                    {"unit", figure.unit}});
  }
  return rows;
}

json ChecksJson(const Answer& answer) {
  json rows = json::array();
  for (const LessonCheck& check : answer.checks) {
    rows.push_back({{"claim", check.claim}, {"held", check.held}});
  }
  return rows;
}

json AnswerJson(const Answer& answer) {
  json interval;
  if (answer.interval) {
    interval = {{"low", answer.interval->low},
                {"high", answer.interval->high},
                {"of", answer.interval->of}};
  }
  return {{"value", answer.value},
          {"interval", interval},
          {"why_no_interval", answer.interval ? json() : json(answer.why_no_interval)},
          {"bound", OrNull(answer.bound)}};
}

const char* ToleranceKindName(ToleranceKind kind) {
  if (kind == ToleranceKind::kShare) return "share of the answer";
  return kind == ToleranceKind::kUnits ? "units" : "factor";
}

json ToleranceJson(const Lesson& lesson) {
  return {{"value", lesson.tolerance}, {"kind", ToleranceKindName(lesson.tolerance_kind)}};
}

json TextsJson(const Lesson& lesson) {
  return {{"lesson", lesson.number},
          {"name", lesson.name},
          {"question", lesson.question},
          {"quantity", lesson.quantity},
          {"unit", lesson.unit},
          {"tolerance", ToleranceJson(lesson)},
          {"explanation", lesson.explanation},
          {"mistake", lesson.mistake},
          {"page", PageOf(lesson)}};
}

const char* LinksText(NeedOfLinks links) {
  if (links == NeedOfLinks::kNone) return "not needed";
  return links == NeedOfLinks::kBetter ? "better" : "required";
}

}  // namespace

std::optional<bool> IsRight(const LessonReport& report) {
  if (!report.prediction || !report.outcome.limited.empty()) return std::nullopt;
  return IsWithin(report.lesson, report.outcome.answer, *report.prediction);
}

std::string LessonText(const LessonReport& report) {
  const Answer& answer = report.outcome.answer;
  std::string out = fmt::format("{}\n{}\n{}{}\n{}\n{}", QuestionText(report.lesson),
                                AnswerLines(report), FigureTable(answer), CheckLines(answer),
                                Wrap(report.lesson.explanation), Wrap(report.lesson.mistake));
  if (!report.outcome.limited.empty()) {
    out += fmt::format("\n{}", Wrap(LimitedText(report.outcome)));
  }
  if (TimesSteps(report)) out += fmt::format("\n{}", Wrap(StepNote(report.lesson)));
  if (CountsBytes(report)) out += fmt::format("\n{}", Wrap(kByBytes));
  out += fmt::format("\nThe runs, {:.0f} s:\n", report.outcome.seconds);
  for (const std::string& command : report.outcome.commands) out += fmt::format("  {}\n", command);
  const std::string demo = DemoLine(report);
  if (!demo.empty()) out += fmt::format("\nTo see them step by step:\n  {}\n", demo);
  out += fmt::format("\nMore: {}\n", PageOf(report.lesson));
  return out;
}

json LessonJson(const LessonReport& report) {
  const Answer& answer = report.outcome.answer;
  json out = TextsJson(report.lesson);
  out["schema"] = "ringside.lesson/1";
  out["quick"] = report.setting.quick;
  out["links"] = report.setting.emulated ? "emulated" : "loopback";
  out["note"] = CountsBytes(report)  ? json(kByBytes)
                : TimesSteps(report) ? json(StepNote(report.lesson))
                                     : json();
  out["prediction"] = OrNull(report.prediction);
  const std::optional<bool> right = IsRight(report);
  out["within"] = right ? json(*right) : json();
  out["limited"] = report.outcome.limited;
  out["answer"] = AnswerJson(answer);
  out["figures"] = FiguresJson(answer);
  out["checks"] = ChecksJson(answer);
  out["commands"] = report.outcome.commands;
  out["runs"] = report.outcome.bundles;
  out["seconds"] = report.outcome.seconds;
  const std::string demo = DemoLine(report);
  out["demo"] = demo.empty() ? json() : json(demo);
  return out;
}

std::string LessonListText(const std::vector<Lesson>& lessons) {
  std::string out;
  for (const Lesson& lesson : lessons) {
    out += fmt::format("{:>2}  {}\n", lesson.number, lesson.name);
    std::istringstream lines(Wrap(lesson.question));
    for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  }
  return out;
}

json LessonListJson(const std::vector<Lesson>& lessons) {
  json rows = json::array();
  for (const Lesson& lesson : lessons) {
    json row = TextsJson(lesson);
    row["emulated_links"] = LinksText(lesson.links);
    rows.push_back(std::move(row));
  }
  return {{"schema", "ringside.lessons/1"}, {"lessons", rows}};
}

std::string QuestionText(const Lesson& lesson) {
  return fmt::format("Lesson {}: {}\n\n{}", lesson.number, lesson.name, Wrap(lesson.question));
}

}  // namespace ringside
