#include <fmt/format.h>

#include <algorithm>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kFrozen[] = "frozen";
constexpr char kCheck[] = "check";
constexpr char kResumed[] = "resumed";
constexpr char kNever[] = "never-frozen";
constexpr char kVictim[] = "server 0";
constexpr int kSteps = 200;
constexpr double kLeaseSeconds = 4.75;
constexpr double kHeartbeatSeconds = 0.25;

LessonRun RunOf(const LessonSetting& setting, const std::string& name, const std::string& flags) {
  return TrainRun(setting, name,
                  fmt::format("--strategy ps-sync --workers 2 --servers 1 --model "
                              "profile:small-tensors --compute-ms 20 --steps {}{}",
                              kSteps, flags));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  LessonRun frozen = RunOf(setting, kFrozen, " --checkpoint-every 20");
  frozen.freeze = kVictim;
  frozen.exit_code = 1;
  std::vector<LessonRun> runs{
      frozen,
      {.name = kCheck, .words = {"checkpoint", "check", frozen.bundle, "--json"}},
      RunOf(setting, kResumed, " --resume"),
  };
  // The words of a bundle's path are not split, whatever they hold.
  auto& words = runs.back().words;
  words.insert(std::find(words.begin(), words.end(), "--resume") + 1, frozen.bundle);
  if (!setting.quick) runs.push_back(RunOf(setting, kNever, ""));
  return runs;
}

/// For how long the victim was silent when it was found lost.
double SilentSeconds(const json& summary) {
  for (const json& words : summary.at("last_words")) {
    if (words.at("member") == kVictim) return NumberAt(words, "silent_seconds");
  }
  throw DataError("last_words", "the run does not say when it last heard of the server");
}

bool AllWhole(const json& check) {
  for (const json& checkpoint : check.at("checkpoints")) {
    if (!checkpoint.at("ok").get<bool>()) return false;
  }
  return !check.at("checkpoints").empty();
}

void AddChecks(const LessonResults& results, Answer& answer) {
  const json& frozen = ResultOf(results, kFrozen);
  const json& resumed = ResultOf(results, kResumed);
  AddCheck(answer, "the run ends with exit code 1", NumberAt(frozen, "lesson_exit_code") == 1);
  AddCheck(answer, "the run blames the server that froze",
           frozen.at("failure").is_object() && frozen["failure"]["member"] == kVictim);
  AddCheck(answer, "every byte of the checkpoints is whole", AllWhole(ResultOf(results, kCheck)));
  AddCheck(answer, "the resumed run reaches the end",
           resumed.at("status") == "done" && NumberAt(resumed, "first_step") > 0 &&
               NumberAt(resumed, "steps") == kSteps);
  if (!results.contains(kNever)) return;
  AddCheck(answer, "it ends with the parameters of a run that was never frozen",
           resumed.at("params_sha256") == ResultOf(results, kNever).at("params_sha256"));
}

Answer AnswerOf(const LessonSetting&, const LessonResults& results) {
  const json& frozen = ResultOf(results, kFrozen);
  const json& resumed = ResultOf(results, kResumed);
  const double silent = SilentSeconds(frozen);
  Answer answer{.value = silent,
                .interval = {{silent - kHeartbeatSeconds, silent,
                              "about how long it was frozen: it froze between two heartbeats"}},
                .bound = kLeaseSeconds};
  const double done = NumberAt(frozen, "steps");
  const double kept = NumberAt(resumed, "first_step");
  answer.figures = {{"silence until the server is lost", answer.value, "s", kLeaseSeconds},
                    {"exit code of the run", NumberAt(frozen, "lesson_exit_code"), ""},
                    {"steps done before", done, "steps"},
                    {"steps in the newest checkpoint", kept, "steps"},
                    {"steps that are done again", done - kept, "steps"}};
  AddChecks(results, answer);
  return answer;
}

}  // namespace

Lesson FrozenServerLesson() {
  return {.name = "frozen-server",
          .question =
              "A parameter server freezes, but its connections stay open. Every process sends a "
              "heartbeat four times a second, and counts as lost after 19 heartbeats that did not "
              "come. After how many seconds of silence does the job end?",
          .quantity = "silence of the server until the job declares it lost",
          .unit = "s",
          .tolerance = 1,
          .tolerance_kind = ToleranceKind::kUnits,
          .explanation =
              "A killed process closes its connections, so the others see it at once. A frozen one "
              "closes nothing: its peers just wait. So each process has a lease that its "
              "heartbeats renew. After 4.75 seconds of silence the coordinator declares the server "
              "lost, ends the job with exit code 1, and names the server, not the workers that "
              "waited for it. A shorter lease would find a failure sooner, and would kill a slow "
              "process by mistake. The parameters of the server are gone, but the newest "
              "checkpoint is whole. The resumed run does the steps after it again and ends with "
              "the same parameters. Only some time is lost, at most the steps between two "
              "checkpoints.",
          .mistake =
              "Many predict 0, because TCP would tell. TCP says nothing while the kernel of the "
              "frozen process still answers. Others expect all training to be lost.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
