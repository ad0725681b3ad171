#include <fmt/format.h>

#include <array>

#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

constexpr std::array kWorkers{2, 4, 8};
constexpr int kAsked = 8;

std::string NameOf(int workers) { return fmt::format("workers-{}", workers); }

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs;
  for (const int workers : kWorkers) {
    runs.push_back(
        TrainRun(setting, NameOf(workers),
                 fmt::format("--strategy ring --workers {} --model profile:mobilenet-v2 --steps {}",
                             workers, setting.quick ? 4 : 20)));
  }
  return runs;
}

double Multiple(const LessonResults& results, int workers) {
  const nlohmann::json& summary = ResultOf(results, NameOf(workers));
  return NumberAt(summary, "bytes_sent_per_worker_per_step") / ModelBytes(summary);
}

double Theory(int workers) { return 2.0 * (workers - 1) / workers; }

Answer AnswerOf(const LessonSetting&, const LessonResults& results) {
  Answer answer{.value = Multiple(results, kAsked), .bound = Theory(kAsked)};
  for (const int workers : kWorkers) {
    const double measured = Multiple(results, workers);
    answer.figures.push_back({fmt::format("{} workers: sent by each in a step", workers), measured,
                              "M", Theory(workers)});
    AddCheck(answer, fmt::format("{} workers send 2(N-1)/N M each, within 2 %", workers),
             measured >= Theory(workers) && measured <= 1.02 * Theory(workers));
  }
  return answer;
}

}  // namespace

Lesson RingBytesLesson() {
  return {.name = "ring-bytes",
          .question =
              "A ring sums gradients of M bytes. How many bytes does each of 8 workers send in a "
              "step, as a multiple of M?",
          .quantity = "bytes that each of 8 workers sends in a step, over the bytes of the model",
          .unit = "M",
          .tolerance = 0.02,
          .explanation =
              "A ring cuts the gradients into N parts. In the reduce-scatter each worker sends one "
              "part to its neighbour, N-1 times, and adds what it gets. Then each worker has the "
              "sum of one part. In the all-gather these sums go round the ring, again N-1 times. "
              "So each worker sends 2(N-1) parts of M/N bytes: 2(N-1)/N M. That is M with 2 "
              "workers, 1.5 M with 4 and 1.75 M with 8. It never reaches 2 M, however many workers "
              "there are. The kernel's counters of the TCP sockets show it; headers add less than "
              "one percent. No all-reduce sends fewer bytes, so this is also the bound.",
          .mistake =
              "Many predict 7, because a worker has 7 peers and could send each of them all M "
              "bytes. Others predict 1, and forget that the sums must come back.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
