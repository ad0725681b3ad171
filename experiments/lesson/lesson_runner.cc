#include "ringside/experiments/lesson/lesson_runner.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/member_freezer.h"
#include "ringside/experiments/lesson/run_figures.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// A run takes some seconds; a busy machine may need many times as long.
constexpr std::chrono::minutes kRunLimit{3};
constexpr int kMissingBackendCode = 4;
constexpr int kAttempts = 2;  // of a run that the machine limits
constexpr std::size_t kLastWords = 600;

/// The times of the steps of one rank, without the warm-up and the last step, which also waits for
/// its own communication.
std::vector<double> CountedSteps(const fs::path& metrics, std::size_t warmup) {
  std::vector<double> steps;
  ForEachMetricsLine(metrics, [&](std::string_view line) {
    const json row = json::parse(line, nullptr, false);
    if (row.is_object() && row.value("kind", "") == "step") steps.push_back(row.at("step_ms"));
  });
  if (!steps.empty()) steps.pop_back();
  steps.erase(steps.begin(),
              steps.begin() + static_cast<std::ptrdiff_t>(std::min(warmup, steps.size())));
  return steps;
}

json StepsOfRanks(const fs::path& bundle, const json& summary) {
  const auto warmup = summary.value("warmup_steps", std::size_t{0});
  json ranks = json::array();
  for (int rank = 0; rank < summary.value("workers", 0); ++rank) {
    const std::string name =
        rank == 0 ? "metrics.jsonl" : fmt::format("metrics-rank-{}.jsonl", rank);
    ranks.push_back(CountedSteps(bundle / name, warmup));
  }
  return ranks;
}

json ResultOfBundle(const LessonRun& run, int exit_code) {
  json summary = ReadSummary(run.bundle);
  summary["rank_step_ms"] = StepsOfRanks(run.bundle, summary);
  summary["lesson_exit_code"] = exit_code;
  return summary;
}

/// The JSON object that a run printed. Warnings may stand before it.
json ResultOfOutput(const LessonRun& run, const std::string& output) {
  const std::size_t begin = output.starts_with("{\n") ? 0 : output.find("\n{\n");
  const json result = begin == std::string::npos
                          ? json(json::value_t::discarded)
                          : json::parse(output.substr(begin), nullptr, false);
  if (result.is_discarded()) throw DataError(run.name, "the run printed no JSON");
  return result;
}

void CheckEnd(const LessonRun& run, const std::string& command, LessonProcess& process) {
  if (process.exit_code() == run.exit_code) return;
  const std::string& output = process.output();
  const std::string last = output.substr(output.size() - std::min(output.size(), kLastWords));
  if (process.exit_code() == kMissingBackendCode) {
    throw MissingBackendError(fmt::format("this lesson cannot run here: {}\n{}", command, last));
  }
  throw Error(fmt::format("a run ended with code {} instead of {}: {}\n{}", process.exit_code(),
                          run.exit_code, command, last));
}

std::vector<std::string> ArgvOf(const std::vector<std::string>& words) {
  std::vector<std::string> argv{ThisExecutable()};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

std::string CommandOf(const LessonRun& run) {
  std::vector<std::string> words{"ringside"};
  words.insert(words.end(), run.words.begin(), run.words.end());
  return JoinWords(words);
}

/// Carries out the runs and keeps what they gave.
class LessonRuns {
 public:
  explicit LessonRuns(LessonOutcome& outcome) : outcome_(outcome) {}

  void Run(const LessonRun& run) {
    std::string limit;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      RunOnce(run);
      if (outcome_.status != LessonStatus::kDone) return;
      limit = LimitText(results_[run.name]);
      if (limit.empty()) break;
    }
    if (!limit.empty()) outcome_.limited.push_back(run.name + ": " + limit);
    if (!run.bundle.empty()) outcome_.bundles.push_back(run.bundle);
  }

  const LessonResults& results() const { return results_; }

 private:
  void RunOnce(const LessonRun& run) {
    const std::string& command = outcome_.commands.emplace_back(CommandOf(run));
    LessonProcess process(ArgvOf(run.words));
    MemberFreezer freezer(run.freeze, run.bundle, process.pid());
    outcome_.status = process.Wait(signals_, Deadline::After(kRunLimit), [&] { freezer.Tick(); });
    if (outcome_.status != LessonStatus::kDone) return;
    CheckEnd(run, command, process);
    results_[run.name] = run.bundle.empty() ? ResultOfOutput(run, process.output())
                                            : ResultOfBundle(run, process.exit_code());
    if (!freezer.command().empty()) outcome_.commands.push_back(freezer.command());
  }

  SignalWatch signals_;
  LessonOutcome& outcome_;
  LessonResults results_;
};

bool IsOk(const json& findings, const std::string& name) {
  for (const json& finding : findings) {
    if (finding.value("name", "") == name) return finding.value("ok", false);
  }
  return false;
}

}  // namespace

void CheckLinks(const Lesson& lesson, bool emulated) {
  if (lesson.links != NeedOfLinks::kRequired || emulated) return;
  throw MissingBackendError(
      "this lesson needs emulated links; 'ringside doctor' says what is missing (as root it often "
      "works)");
}

LessonOutcome RunLesson(const Lesson& lesson, const LessonSetting& setting,
                        const LessonProgress& progress) {
  CheckLinks(lesson, setting.emulated);
  const Clock::time_point begin = Clock::now();
  const std::vector<LessonRun> plan = lesson.plan(setting);
  LessonOutcome outcome;
  LessonRuns runs(outcome);
  for (std::size_t done = 0; done < plan.size(); ++done) {
    progress(CommandOf(plan[done]), done, plan.size());
    runs.Run(plan[done]);
    if (outcome.status != LessonStatus::kDone) return outcome;
  }
  outcome.answer = lesson.answer(setting, runs.results());
  outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return outcome;
}

LinkSupport ProbeLinks() {
  SignalWatch signals;
  const LessonRun doctor{.name = "doctor", .words = {"doctor", "--json"}};
  LessonProcess process(ArgvOf(doctor.words));
  LinkSupport probe{process.Wait(signals, Deadline::After(kRunLimit), [] {})};
  if (probe.status != LessonStatus::kDone) return probe;
  const json report = ResultOfOutput(doctor, process.output());
  probe.emulated = IsOk(report.at("findings"), "emulated hosts") &&
                   IsOk(report.at("findings"), "emulated rates");
  return probe;
}

}  // namespace ringside
