#include <fmt/format.h>

#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"

namespace ringside {
namespace {

constexpr int kWorkers = 4;
constexpr char kRing[] = "ring";
// A smaller difference is a tie.
constexpr double kClearlyFaster = 0.98;
constexpr double kNeeded = 1.0 * kWorkers * kWorkers / (2 * (kWorkers - 1));

std::string NameOf(int servers) { return fmt::format("servers-{}", servers); }
std::string Label(int servers) {
  return fmt::format("{} server{}", servers, servers == 1 ? "" : "s");
}

int FewestServers(const LessonSetting& setting) { return setting.quick ? 2 : 1; }
int MostServers(const LessonSetting& setting) { return setting.quick ? 3 : 4; }

LessonRun RunOf(const LessonSetting& setting, const std::string& name,
                const std::string& strategy) {
  return TrainRun(
      setting, name,
      fmt::format("--strategy {} --workers {} --model profile:small-tensors --bucket-mb 1 "
                  "--compute-ms 20 --steps {} --warmup-steps 1{}",
                  strategy, kWorkers, setting.quick ? 6 : 8,
                  setting.emulated ? " --network 100Mbps" : ""));
}

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  std::vector<LessonRun> runs{RunOf(setting, kRing, "ring")};
  for (int servers = FewestServers(setting); servers <= MostServers(setting); ++servers) {
    runs.push_back(RunOf(setting, NameOf(servers), fmt::format("ps-sync --servers {}", servers)));
  }
  return runs;
}

/// The bytes that the busiest link carries in a step, as a multiple of the model.
double BusiestLink(const LessonResults& results, const std::string& name) {
  const nlohmann::json& summary = ResultOf(results, name);
  const char* bytes =
      name == kRing ? "bytes_sent_per_worker_per_step" : "bytes_per_server_per_step";
  return NumberAt(summary, bytes) / ModelBytes(summary);
}

bool Beats(const LessonSetting& setting, const LessonResults& results, int servers) {
  return setting.emulated
             ? StepOf(results, NameOf(servers)) < kClearlyFaster * StepOf(results, kRing)
             : BusiestLink(results, NameOf(servers)) < BusiestLink(results, kRing);
}

/// The fewest servers whose step at one percentile is shorter than the ring's at another one.
std::optional<int> FewestAt(const LessonSetting& setting, const LessonResults& results,
                            const std::string& servers_step, const std::string& ring_step) {
  const double ring = NumberAt(ResultOf(results, kRing), ring_step);
  for (int servers = FewestServers(setting); servers <= MostServers(setting); ++servers) {
    const double step = NumberAt(ResultOf(results, NameOf(servers)), servers_step);
    if (step < kClearlyFaster * ring) return servers;
  }
  return std::nullopt;
}

/// From the servers' short steps against the ring's long ones to the contrary.
std::optional<LessonInterval> IntervalOf(const LessonSetting& setting,
                                         const LessonResults& results) {
  if (!setting.emulated) return std::nullopt;  // bytes are an exact count
  const auto low = FewestAt(setting, results, "step_ms/p10", "step_ms/p90");
  const auto high = FewestAt(setting, results, "step_ms/p90", "step_ms/p10");
  if (!low) return std::nullopt;
  return LessonInterval{1.0 * *low, 1.0 * high.value_or(MostServers(setting)),
                        high ? "10th to 90th percentile of the steps"
                             : "10th to 90th percentile of the steps, which leave the upper end "
                               "open"};
}

int FewestThatBeat(const LessonSetting& setting, const LessonResults& results) {
  for (int servers = FewestServers(setting); servers <= MostServers(setting); ++servers) {
    if (Beats(setting, results, servers)) return servers;
  }
  throw Error(
      fmt::format("no number of servers up to {} was faster than the ring by 2 %: the machine was "
                  "too busy to tell; run the lesson again",
                  MostServers(setting)));
}

void AddFigures(const LessonSetting& setting, const LessonResults& results, const std::string& name,
                const std::string& label, double bound, Answer& answer) {
  answer.figures.push_back(
      {label + ": bytes on the busiest link", BusiestLink(results, name), "M", bound});
  if (setting.emulated) answer.figures.push_back(StepFigure(results, name, label));
}

Answer AnswerOf(const LessonSetting& setting, const LessonResults& results) {
  Answer answer{.value = 1.0 * FewestThatBeat(setting, results),
                .interval = IntervalOf(setting, results),
                .bound = 3};
  answer.figures.push_back(
      {"N^2/(2(N-1)): servers that match a ring", std::nullopt, "servers", kNeeded});
  AddFigures(setting, results, kRing, kRing, 2.0 * (kWorkers - 1) / kWorkers, answer);
  for (int servers = FewestServers(setting); servers <= MostServers(setting); ++servers) {
    AddFigures(setting, results, NameOf(servers), Label(servers), 1.0 * kWorkers / servers, answer);
    AddCheck(answer,
             fmt::format("{}: the busiest link carries {} than in the ring", Label(servers),
                         servers > kNeeded ? "less" : "more"),
             (BusiestLink(results, NameOf(servers)) < BusiestLink(results, kRing)) ==
                 (servers > kNeeded));
  }
  return answer;
}

}  // namespace

Lesson ServersLesson() {
  return {.name = "servers",
          .question =
              "4 workers sum their gradients in a ring. All links are equally fast, and the "
              "network is the limit. How many parameter servers, each with a link of its own, does "
              "it take to be faster than the ring?",
          .quantity = "the fewest servers whose step is shorter than the ring's by at least 2 %",
          .unit = "servers",
          .tolerance = 0.5,
          .tolerance_kind = ToleranceKind::kUnits,
          .explanation =
              "M are the bytes of all gradients. In a ring every link carries 2(N-1)/N M bytes "
              "each way. S servers share the model, "
              "so N M / S bytes come in over the link of each. Servers and ring match when both "
              "are equal: S = N^2 / (2(N-1)). With 4 workers that is 2.67, so 2 servers are slower "
              "than the ring and 3 are faster. For many workers it is about N/2: a server for "
              "every two workers. The servers do not win by a better algorithm. They bring links "
              "of their own: 4 workers and 3 servers have 7 links, the ring has 4. With servers "
              "inside the workers the bytes are the same as in the ring.",
          .mistake =
              "Many predict 4, one server for each worker. Others predict 1, because a worker of "
              "a parameter server sends only M bytes.",
          .links = NeedOfLinks::kBetter,
          .beside = NameOf(3),
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
