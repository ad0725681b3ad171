#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

constexpr char kAsync[] = "async";
constexpr char kSlowAsync[] = "async-slow-worker";
constexpr char kBounded[] = "bounded-slow-worker";
constexpr int kWorkers = 4;
constexpr int kBound = 1;
// The normal distribution has 95 % within so many standard deviations of its mean.
constexpr double kNormal95 = 1.96;
// Every other worker can push this often between a worker's pull and its push (consistency.h).
constexpr int kMostBehind = (kWorkers - 1) * (2 * kBound + 1);

LessonRun RunOf(const LessonSetting& setting, const std::string& name, const std::string& flags) {
  return TrainRun(setting, name,
                  fmt::format("--workers {} --model profile:small-tensors --compute-ms 40 --steps "
                              "{} {}",
                              kWorkers, setting.quick ? 40 : 70, flags));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  const std::string slow = " --straggler kind=permanent,worker=0,factor=4";
  return {
      RunOf(setting, kAsync, "--strategy ps-async"),
      RunOf(setting, kSlowAsync, "--strategy ps-async" + slow),
      RunOf(setting, kBounded, fmt::format("--strategy ps-ssp --staleness {}{}", kBound, slow))};
}

void AddFigures(const LessonResults& results, const std::string& name, Answer& answer) {
  const nlohmann::json& summary = ResultOf(results, name);
  answer.figures.push_back(
      {name + ": mean staleness", NumberAt(summary, "staleness/mean"), "versions"});
  answer.figures.push_back(
      {name + ": largest staleness", NumberAt(summary, "staleness/max"), "versions"});
}

/// The mean of the gradients' staleness with its 95 % interval, as if they were independent of each
/// other.
LessonInterval IntervalOf(const nlohmann::json& summary) {
  const nlohmann::json::json_pointer path("/staleness/histogram");
  const nlohmann::json histogram = summary.value(path, nlohmann::json::object());
  double gradients = 0;
  double sum = 0;
  double squares = 0;
  for (const auto& [staleness, count] : histogram.items()) {
    const double versions = std::stod(staleness);
    gradients += count.get<double>();
    sum += count.get<double>() * versions;
    squares += count.get<double>() * versions * versions;
  }
  if (gradients < 2) throw DataError("staleness/histogram", "it counts no two gradients");
  const double mean = sum / gradients;
  const double variance = (squares - sum * mean) / (gradients - 1);
  const double half = kNormal95 * std::sqrt(std::max(variance, 0.0) / gradients);
  return {mean - half, mean + half, "95 % of the mean, over gradients"};
}

Answer AnswerOf(const LessonSetting&, const LessonResults& results) {
  Answer answer{.value = NumberAt(ResultOf(results, kAsync), "staleness/mean"),
                .interval = IntervalOf(ResultOf(results, kAsync)),
                .bound = kWorkers - 1};
  AddFigures(results, kAsync, answer);
  answer.figures.front().bound = kWorkers - 1;
  AddFigures(results, kSlowAsync, answer);
  AddFigures(results, kBounded, answer);
  answer.figures.back().bound = kMostBehind;
  AddCheck(
      answer,
      fmt::format("with a bound of s = {} no update is more than (N-1)(2s+1) = {} versions late",
                  kBound, kMostBehind),
      NumberAt(ResultOf(results, kBounded), "staleness/max") <= kMostBehind);
  return answer;
}

}  // namespace

Lesson StalenessLesson() {
  return {.name = "staleness",
          .question =
              "4 equally fast workers train asynchronously. A gradient is late by the number of "
              "updates that others made since its worker got its parameters. How late is a "
              "gradient on average?",
          .quantity = "mean staleness of ps-async with 4 workers",
          .unit = "versions",
          .tolerance = 0.1,
          .explanation =
              "While a worker computes, each of the N-1 others pushes about once. So its gradient "
              "is N-1 versions late on average: 3 with 4 workers. That is only a mean. If one "
              "worker is slow, the others push many times while it computes. Its gradients become "
              "very late, and nothing limits that. A bound s does: a worker gets no new parameters "
              "until it is at most s steps ahead of the slowest one. Then each other worker can "
              "push at most 2s+1 times between two pushes of a worker, so no gradient is more than "
              "(N-1)(2s+1) versions late: 9 here. The fast workers pay by waiting. Asynchronous "
              "training never waits and promises nothing.",
          .mistake =
              "Many predict 1, because there is one push for each pull. Others predict 4 and count "
              "the worker's own push.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
