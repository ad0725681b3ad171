#include <fmt/format.h>

#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"
#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr char kLow[] = "0.1";
constexpr char kHigh[] = "0.5";

int LowSeeds(const LessonSetting& setting) { return setting.quick ? 1 : 5; }
int HighSeeds(const LessonSetting& setting) { return setting.quick ? 1 : 3; }

std::string NameOf(const std::string& strategy, const std::string& rate, int seed) {
  return fmt::format("{}-rate-{}-seed-{}", strategy, rate, seed);
}

void AddPair(const LessonSetting& setting, const std::string& rate, int seed,
             std::vector<LessonRun>& runs) {
  for (const char* strategy : {"ps-sync", "ps-async"}) {
    runs.push_back(TrainRun(
        setting, NameOf(strategy, rate, seed),
        fmt::format("--strategy {} --workers 4 --model mlp --hidden 64 --data digits --epochs 5 "
                    "--global-batch 64 --momentum 0.9 --lr {} --seed {}",
                    strategy, rate, seed)));
  }
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs;
  for (int seed = 1; seed <= LowSeeds(setting); ++seed) AddPair(setting, kLow, seed, runs);
  for (int seed = 1; seed <= HighSeeds(setting); ++seed) AddPair(setting, kHigh, seed, runs);
  return runs;
}

/// In percent. A run that diverged has the accuracy of a guess among ten digits.
double AccuracyOf(const LessonResults& results, const std::string& name) {
  const nlohmann::json& summary = ResultOf(results, name);
  if (summary.value("status", "") == "diverged") return 10;
  return NumberAt(summary, "eval_accuracy") * 100;
}

/// What asynchronous training loses with each seed.
std::vector<double> CostsOf(const LessonResults& results, const std::string& rate, int seeds) {
  std::vector<double> costs;
  for (int seed = 1; seed <= seeds; ++seed) {
    costs.push_back(AccuracyOf(results, NameOf("ps-sync", rate, seed)) -
                    AccuracyOf(results, NameOf("ps-async", rate, seed)));
  }
  return costs;
}

void AddFigures(const LessonResults& results, const std::string& rate, int seeds, Answer& answer) {
  for (const char* strategy : {"ps-sync", "ps-async"}) {
    std::vector<double> accuracies;
    for (int seed = 1; seed <= seeds; ++seed) {
      accuracies.push_back(AccuracyOf(results, NameOf(strategy, rate, seed)));
    }
    answer.figures.push_back({fmt::format("learning rate {}: accuracy of {}", rate, strategy),
                              MedianInPlace(accuracies), "%"});
  }
}

Answer AnswerOf(const LessonSetting& setting, const LessonResults& results) {
  std::vector<double> costs = CostsOf(results, kLow, LowSeeds(setting));
  std::vector<double> high_costs = CostsOf(results, kHigh, HighSeeds(setting));
  const auto interval = MedianBootstrap().IntervalOf(costs);
  Answer answer{.value = MedianInPlace(costs), .why_no_interval = "there is one seed", .bound = 0};
  if (interval) {
    answer.interval = {interval->low, interval->high, "95 %, over seeds"};
  }
  AddFigures(results, kLow, LowSeeds(setting), answer);
  AddFigures(results, kHigh, HighSeeds(setting), answer);
  if (setting.quick) return answer;
  AddCheck(answer, "with the learning rate 0.5 asynchronous training loses more than with 0.1",
           MedianInPlace(high_costs) > answer.value);
  return answer;
}

}  // namespace

Lesson StalenessCostLesson() {
  return {.name = "staleness-cost",
          .question =
              "4 workers train a small network on handwritten digits for 5 epochs, with learning "
              "rate 0.1 and momentum 0.9. By how many percentage points is the accuracy of "
              "asynchronous training lower than that of synchronous training?",
          .quantity = "accuracy of ps-sync minus accuracy of ps-async",
          .unit = "points",
          .tolerance = 4,
          .tolerance_kind = ToleranceKind::kUnits,
          .explanation =
              "A stale gradient was computed from older parameters. As long as the parameters have "
              "not moved far since, it still points downhill. With a learning rate of 0.1 they "
              "move little in 3 updates, so the cost is within the noise of the seeds: about a "
              "point. At a rate of 0.5 each update moves them so far that old gradients overshoot, "
              "and momentum repeats the error. Synchronous training still works there; "
              "asynchronous training often falls to a guess. So staleness does not simply cost "
              "some accuracy. It lowers the largest learning rate that works, roughly by the "
              "staleness. Compare several seeds: one run alone proves nothing.",
          .mistake =
              "Many predict a loss of 10 points or more, as if every stale gradient were wrong. "
              "Others conclude from a small loss that staleness is free, and raise the rate.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
