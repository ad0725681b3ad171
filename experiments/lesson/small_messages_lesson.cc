#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lesson/lesson_table.h"
#include "ringside/experiments/lesson/run_figures.h"
#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/quantile.h"
#include "ringside/experiments/text/units.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kBench[] = "bench";
constexpr char kRing[] = "ring";
constexpr char kDoubling[] = "recursive-doubling";
constexpr std::int64_t kSmall = 4 << 10;
// 2(N-1) messages one after another against log2 N, with 4 workers.
constexpr double kMessages = 6.0 / 2.0;

std::vector<LessonRun> Plan(const LessonSetting& setting) {
  return {{.name = kBench,
           .words = SplitWords(fmt::format(
               "bench --strategy ring,recursive-doubling --workers 4 -b 4KiB -e {} -f 4 -n {} "
               "-w 10 --rounds {} --quiet --json",
               setting.quick ? "4KiB" : "4MiB", 20, setting.quick ? 12 : 15))}};
}

/// The times of a strategy by size: a value for each round.
using Rounds = std::map<std::int64_t, std::vector<double>>;

Rounds RoundsOf(const json& bench, const std::string& strategy) {
  Rounds rounds;
  for (const json& row : bench.at("rows")) {
    if (row.at("strategy") != strategy) continue;
    rounds[row.at("size").get<std::int64_t>()] = row.at("round_us").get<std::vector<double>>();
  }
  if (!rounds.contains(kSmall)) throw DataError(kBench, "no row of " + strategy + " with 4 KiB");
  return rounds;
}

/// The ratios of the rounds. Both strategies run in every round.
std::vector<double> Ratios(const std::vector<double>& ring, const std::vector<double>& doubling) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < std::min(ring.size(), doubling.size()); ++round) {
    ratios.push_back(ring[round] / doubling[round]);
  }
  return ratios;
}

void AddCrossing(const Rounds& ring, const Rounds& doubling, Answer& answer) {
  for (const auto& [size, times] : ring) {
    const double ratio = Median(Ratios(times, doubling.at(size))).value_or(0);
    answer.figures.push_back(
        {FormatBytes(static_cast<double>(size)) + ": ring over doubling", ratio, "times"});
  }
  for (const auto& [size, times] : ring) {
    if (Median(Ratios(times, doubling.at(size))).value_or(0) >= 1) continue;
    answer.figures.push_back(
        {"the first size at which the ring is faster", static_cast<double>(size) / 1024, "KiB"});
    break;
  }
  if (ring.size() == 1) return;  // a quick run has the small size alone
  AddCheck(answer, "they cross: at the largest size the ring is faster",
           Median(Ratios(ring.rbegin()->second, doubling.rbegin()->second)).value_or(1) < 1);
}

Answer AnswerOf(const LessonSetting&, const LessonResults& results) {
  const json& bench = ResultOf(results, kBench);
  const Rounds ring = RoundsOf(bench, kRing);
  const Rounds doubling = RoundsOf(bench, kDoubling);
  const std::vector<double> ratios = Ratios(ring.at(kSmall), doubling.at(kSmall));
  Answer answer{.value = Median(ratios).value_or(0), .bound = kMessages};
  if (const auto interval = MedianBootstrap().IntervalOf(ratios)) {
    answer.interval = {interval->low, interval->high, "95 %, over rounds"};
  }
  answer.figures.push_back({"4 KiB: a sum in a ring", Median(ring.at(kSmall)).value_or(0), "us"});
  answer.figures.push_back(
      {"4 KiB: a sum by recursive doubling", Median(doubling.at(kSmall)).value_or(0), "us"});
  AddCrossing(ring, doubling, answer);
  AddCheck(answer, "at 4 KiB recursive doubling is faster", answer.value > 1);
  return answer;
}

}  // namespace

Lesson SmallMessagesLesson() {
  return {.name = "small-messages",
          .question =
              "4 workers sum a vector of 4 KiB, once in a ring and once by recursive doubling. How "
              "many times as long does the ring take?",
          .quantity = "the time of the ring over that of recursive doubling, at 4 KiB",
          .unit = "times",
          .tolerance = 2,
          .tolerance_kind = ToleranceKind::kFactor,
          .explanation =
              "A message of 4 KiB takes no time on the link; what costs is to start it. A ring "
              "needs 2(N-1) messages one after another: 6 with 4 workers. Recursive doubling needs "
              "log2 N: 2. So by theory the ring takes 3 times as long, and with 64 workers 21 "
              "times. The measured ratio is smaller: each sum also has a fixed cost, and the "
              "messages of the doubling are N times as long. For large vectors the bytes decide. "
              "The doubling sends all M bytes log2 N times, the ring 2(N-1)/N M. So there is a "
              "size at which they cross; the table of a full run shows it. Libraries switch there, "
              "and so does the strategy auto.",
          .mistake =
              "Many predict less than 1, because the ring sends fewer bytes. For small vectors "
              "count the messages, not the bytes.",
          .plan = Plan,
          .answer = AnswerOf};
}

}  // namespace ringside
