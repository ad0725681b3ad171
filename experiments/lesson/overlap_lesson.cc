#include <fmt/format.h>

#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

constexpr char kOn[] = "overlap-on";
constexpr char kOff[] = "overlap-off";
constexpr char kPriority[] = "priority";

LessonRun RunOf(const LessonSetting& setting, const std::string& name, const std::string& flags) {
  return TrainRun(setting, name,
                  fmt::format("--strategy ring --workers 2 --network 146Mbps --model "
                              "profile:small-tensors --bucket-mb 128KiB --compute-ms 240 --steps "
                              "{} --warmup-steps 1 {}",
                              setting.quick ? 6 : 12, flags));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs{RunOf(setting, kOff, "--overlap off"),
                              RunOf(setting, kOn, "--overlap on")};
  if (!setting.quick) runs.push_back(RunOf(setting, kPriority, "--schedule priority"));
  return runs;
}

LessonInterval StepInterval(const LessonResults& results, const std::string& name) {
  const nlohmann::json& summary = ResultOf(results, name);
  return {NumberAt(summary, "step_ms/p10"), NumberAt(summary, "step_ms/p90"),
          "10th to 90th percentile of the steps"};
}

void AddFigures(const LessonResults& results, const std::string& name, const std::string& what,
                Answer& answer) {
  answer.figures.push_back(StepFigure(results, name, what));
  answer.figures.back().bound = NumberAt(ResultOf(results, name), "achievable_ms");
  answer.figures.push_back({what + ": exposed communication",
                            NumberAt(ResultOf(results, name), "exposed_comm_ms"), "ms"});
}

Answer AnswerOf(const LessonSetting& setting, const LessonResults& results) {
  Answer answer{.value = StepOf(results, kOn),
                .interval = StepInterval(results, kOn),
                .bound = NumberAt(ResultOf(results, kOn), "achievable_ms")};
  answer.figures.push_back({"communication of a step", std::nullopt, "ms",
                            NumberAt(ResultOf(results, kOn), "bound_comm_ms")});
  answer.figures.push_back(
      {"compute before the first gradient", NumberAt(ResultOf(results, kOn), "forward_ms"), "ms"});
  AddFigures(results, kOff, "overlap off", answer);
  AddFigures(results, kOn, "overlap on", answer);
  if (!setting.quick) AddFigures(results, kPriority, "overlap on, priority", answer);
  AddCheck(answer, "overlap makes the step shorter", answer.value < StepOf(results, kOff));
  AddCheck(answer, "overlap cannot hide everything: the step is longer than the compute",
           answer.value > 240);
  return answer;
}

}  // namespace

Lesson OverlapLesson() {
  return {.name = "overlap",
          .question =
              "The compute of a step takes 240 ms: 80 ms forward, 160 ms backward. The ring needs "
              "235 ms on its links. Without overlap a step takes 475 ms. How long is it if each "
              "bucket leaves as soon as its gradient is ready?",
          .quantity = "the step with overlap",
          .unit = "ms",
          .tolerance = 0.1,
          .explanation =
              "Gradients become ready during the backward pass, bucket by bucket. So communication "
              "can hide behind its 160 ms. In this order nothing can be sent during the forward "
              "pass: the next one needs the new parameters. The step takes at least 80 ms plus the "
              "longer of 160 ms and 235 ms, that is 315 ms, and a few more until the first bucket "
              "is ready. What exceeds the compute is the exposed communication. A slower model of "
              "the same size would hide all of it; a faster link, too. Overlap never hides more "
              "than there is compute to hide behind. A priority schedule takes another order: what "
              "the next forward pass reads first goes first, so the forward pass hides "
              "communication as well.",
          .mistake =
              "Many predict 240 ms, the longer of compute and communication. That would need the "
              "first bucket to be ready before its gradient is computed.",
          .links = NeedOfLinks::kRequired,
          .theory = "The theory of a step is the shortest one in its order of buckets.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
