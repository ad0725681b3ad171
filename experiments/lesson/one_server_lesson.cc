#include <fmt/format.h>

#include <array>

#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"
#include "ringside/experiments/statistics/scaling.h"

namespace ringside {
namespace {

constexpr std::array kWorkers{2, 4, 6};

std::string NameOf(int workers) { return fmt::format("workers-{}", workers); }

bool Runs(const LessonSetting& setting, int workers) { return !setting.quick || workers <= 4; }

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs;
  for (const int workers : kWorkers) {
    if (!Runs(setting, workers)) continue;
    runs.push_back(TrainRun(
        setting, NameOf(workers),
        fmt::format("--strategy ps-sync --workers {} --servers 1 --model profile:small-tensors "
                    "--bucket-mb 1 --compute-ms 20 --steps {} --warmup-steps 1{}",
                    workers, setting.quick ? 6 : 8, setting.emulated ? " --network 150Mbps" : "")));
  }
  return runs;
}

/// The server's link carries the bytes of all workers.
Answer ByBytes(const LessonSetting& setting, const LessonResults& results) {
  Answer answer{.bound = 2};
  const auto bytes = [&](int workers) {
    return NumberAt(ResultOf(results, NameOf(workers)), "bytes_per_server_per_step");
  };
  answer.value = bytes(4) / bytes(2);
  for (const int workers : kWorkers) {
    if (!Runs(setting, workers)) continue;
    const double model = ModelBytes(ResultOf(results, NameOf(workers)));
    answer.figures.push_back({fmt::format("{} workers: bytes to the server in a step", workers),
                              bytes(workers) / 1e6, "MB", workers * model / 1e6});
  }
  return answer;
}

/// The slopes of the step and of its bound over the workers.
void AddSlopes(const LessonSetting& setting, const LessonResults& results, Answer& answer) {
  std::vector<double> workers;
  std::vector<double> steps;
  std::vector<double> bounds;
  for (const int count : kWorkers) {
    if (!Runs(setting, count)) continue;
    workers.push_back(count);
    steps.push_back(StepOf(results, NameOf(count)));
    bounds.push_back(NumberAt(ResultOf(results, NameOf(count)), "bound_ms"));
  }
  const std::optional<Line> measured = FitLine(workers, steps);
  const std::optional<Line> least = FitLine(workers, bounds);
  if (!measured || !least) return;
  answer.figures.push_back(
      {"slope: what each worker adds to the step", measured->slope, "ms", least->slope});
  AddCheck(answer, "each worker adds what its bytes need on the server's link, within 15 %",
           measured->slope > 0.85 * least->slope && measured->slope < 1.15 * least->slope);
}

Answer AnswerOf(const LessonSetting& setting, const LessonResults& results) {
  if (!setting.emulated) return ByBytes(setting, results);
  Answer answer{.value = StepRatio(results, NameOf(4), NameOf(2)),
                .interval = StepRatioInterval(results, NameOf(4), NameOf(2)),
                .bound = 2};
  for (const int workers : kWorkers) {
    if (!Runs(setting, workers)) continue;
    answer.figures.push_back(
        StepFigure(results, NameOf(workers), fmt::format("{} workers", workers)));
  }
  AddSlopes(setting, results, answer);
  return answer;
}

}  // namespace

Lesson OneServerLesson() {
  return {.name = "one-server",
          .question =
              "One parameter server serves 2 workers, and the network is the limit. Then there are "
              "4 workers. How many times as long is a step?",
          .quantity = "the step with 4 workers over the step with 2 workers",
          .unit = "times",
          .tolerance = 0.15,
          .explanation =
              "In every step each worker sends its gradients to the server and gets the parameters "
              "back. With N workers and a model of M bytes, N M bytes come in over the server's "
              "link and N M bytes go out. The links of the workers carry only M bytes each way. So "
              "the server's link is the bottleneck, and the step takes at least N M / B on a link "
              "of B bytes per second. That grows linearly: twice the workers, twice the step. More "
              "workers then compute more samples in a step, but the samples per second stay the "
              "same. Only more servers, or a strategy without a server, help. The slope in the "
              "table is what one more worker costs.",
          .mistake =
              "Many predict 1, because each worker still sends the same bytes. They look at the "
              "link of a worker, and the full link is that of the server.",
          .links = NeedOfLinks::kBetter,
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
