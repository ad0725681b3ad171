#include <fmt/format.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kSync[] = "sync";
constexpr char kAsync[] = "async";
constexpr char kBackup[] = "backup";
constexpr int kWorkers = 4;
constexpr double kComputeMs = 150;
// Quantiles of the steps. Other programs on the machine can only make a step longer.
constexpr double kShort = 0.1;
constexpr double kLong = 0.9;

LessonRun RunOf(const LessonSetting& setting, const std::string& name,
                const std::string& strategy) {
  return TrainRun(setting, name,
                  fmt::format("--strategy {} --workers {} --model profile:small-tensors "
                              "--compute-ms {} --steps {} --warmup-steps 2 --straggler "
                              "kind=permanent,worker=0,factor=2",
                              strategy, kWorkers, kComputeMs, setting.quick ? 10 : 30));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  return {RunOf(setting, kSync, "ps-sync"), RunOf(setting, kAsync, "ps-async"),
          RunOf(setting, kBackup, "ps-backup --backups 1")};
}

std::vector<std::vector<double>> RankSteps(const json& summary) {
  if (!summary.contains("rank_step_ms")) throw DataError("rank_step_ms", "it is missing");
  return summary.at("rank_step_ms").get<std::vector<std::vector<double>>>();
}

/// Samples per second of all workers while each takes its own steps of this quantile.
double Throughput(const json& summary, double quantile) {
  const double batch = NumberAt(summary, "global_batch") / kWorkers;
  double rate = 0;
  for (const std::vector<double>& steps : RankSteps(summary)) {
    const auto step = Quantile(steps, quantile);
    if (!step) throw DataError("rank_step_ms", "a worker has no steps");
    rate += batch / *step * 1000;
  }
  return rate;
}

/// The share of the pushes that servers used.
double UsedShare(const json& summary) {
  if (!summary.at("dropped_pushes").is_number()) return 1;
  return 1 - NumberAt(summary, "dropped_pushes") /
                 (kWorkers * NumberAt(summary, "steps") * NumberAt(summary, "buckets"));
}

/// How long a worker waits in a step, as a mean over the workers.
double WaitMs(const json& summary) { return NumberAt(summary, "exposed_comm_ms"); }

void AddFigures(const LessonResults& results, const std::string& name, double bound,
                double wait_bound_ms, Answer& answer) {
  const json& summary = ResultOf(results, name);
  answer.figures.push_back({name + ": samples per second, in short steps (10th percentile)",
                            Throughput(summary, kShort), "1/s", bound});
  answer.figures.push_back(
      {name + ": a worker waits in a step", WaitMs(summary), "ms", wait_bound_ms});
  answer.figures.push_back({name + ": pushes that were used", UsedShare(summary) * 100, "%"});
}

Answer AnswerOf(const LessonSetting&, const LessonResults& results) {
  const json& sync = ResultOf(results, kSync);
  const json& async = ResultOf(results, kAsync);
  const double fast =
      NumberAt(sync, "global_batch") / kWorkers / (kComputeMs / 1000);  // of one fast worker
  Answer answer{.value = Throughput(async, kShort) / Throughput(sync, kShort),
                .interval = LessonInterval{Throughput(async, kLong) / Throughput(sync, kShort),
                                           Throughput(async, kShort) / Throughput(sync, kLong),
                                           "10th to 90th percentile of the steps"},
                .bound = (kWorkers - 0.5) / (kWorkers * 0.5)};
  // The three fast ones wait for half of the synchronous step.
  const double sync_wait_ms = kComputeMs * (kWorkers - 1) / kWorkers;
  AddFigures(results, kSync, kWorkers * fast / 2, sync_wait_ms, answer);
  AddFigures(results, kAsync, (kWorkers - 0.5) * fast, 0, answer);
  AddFigures(results, kBackup, (kWorkers - 0.5) * fast, 0, answer);
  AddCheck(answer, "only synchronous workers wait for the slow one",
           WaitMs(sync) > sync_wait_ms / 2 && WaitMs(async) < sync_wait_ms / 2 &&
               WaitMs(ResultOf(results, kBackup)) < sync_wait_ms / 2);
  AddCheck(
      answer, "only backup workers throw gradients away",
      UsedShare(sync) == 1 && UsedShare(async) == 1 && UsedShare(ResultOf(results, kBackup)) < 1);
  return answer;
}

}  // namespace

Lesson SlowWorkerLesson() {
  return {.name = "slow-worker",
          .question =
              "4 workers compute 150 ms a step, but one of them needs 300 ms. How many times as "
              "many samples per second do they compute asynchronously as synchronously?",
          .quantity = "samples per second of ps-async over those of ps-sync",
          .unit = "times",
          .tolerance = 0.1,
          .explanation =
              "A synchronous step ends when the last gradient has come. So all four workers need "
              "300 ms a step, and the three fast ones wait for half of the time. Asynchronous "
              "servers answer each worker at once. The fast ones then take a step every 150 ms, "
              "the slow one every 300 ms: 3 + 0.5 against 4 x 0.5, that is 1.75 times as many "
              "samples. The price is staleness, as the next lessons show. Backup workers are in "
              "between: servers close a step with three of four gradients, so the fast workers do "
              "not wait, and the parameters stay the same everywhere. But the gradients of the "
              "slow worker come too late and are thrown away: its work is lost.",
          .mistake =
              "Many predict 2, because the synchronous step is twice as long. But one worker stays "
              "slow. Others predict 4/3 and forget that a synchronous job slows all its workers.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
