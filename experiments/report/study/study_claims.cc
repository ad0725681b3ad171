#include "ringside/experiments/report/study/study_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/study/study_findings.h"
#include "ringside/experiments/statistics/quantile.h"
#include "ringside/experiments/statistics/scaling.h"

namespace ringside {
namespace {

using Cells = std::vector<const StudyCell*>;
using Place = std::tuple<Workload, std::string>;  // and scaling

constexpr char kNoInterval[] = "fewer than five runs, so no interval";

Place PlaceOf(const StudyCell& cell) { return {SharedKeys(cell, true), cell.scaling}; }

/// The traits of a cell that tests claims: its strategy is one of this program, and the machine did
/// not limit all of its runs. Null for other cells.
const StrategyTraits* TestedTraits(const StudyCell& cell) {
  return cell.traits && !IsAllLimited(cell) ? &*cell.traits : nullptr;
}

/// Servers that a spec can ask for. The formulas of the claims are about these.
bool HasPlainServers(const StudyCell& cell) {
  const StrategyTraits* traits = TestedTraits(cell);
  return traits != nullptr && traits->topology == Topology::kServers &&
         traits->servers == ServerPlacement::kAsAsked;
}
/// True for a ring that sums at every step.
bool IsRing(const StudyCell& cell) {
  const StrategyTraits* traits = TestedTraits(cell);
  return cell.synchronous && traits != nullptr && traits->topology == Topology::kRing;
}
bool IsServer(const StudyCell& cell) { return cell.synchronous && HasPlainServers(cell); }
bool IsRelaxedServer(const StudyCell& cell) { return !cell.synchronous && HasPlainServers(cell); }
bool IsAsynchronous(const StudyCell& cell) {
  const StrategyTraits* traits = TestedTraits(cell);
  return traits != nullptr && traits->agreement == Agreement::kAsynchronous;
}

std::string SpanText(const ConfidenceInterval& interval) {
  return fmt::format("{:.3g} to {:.3g}", interval.low, interval.high);
}

/// The text of `what`: the ratio, its interval, its runs, and how often each side is ahead.
std::string RatioText(const char* what, const Comparison& comparison) {
  if (!comparison.ratio) return fmt::format("{}: no runs to compare", what);
  std::string text = fmt::format("{} {:.3f}", what, *comparison.ratio);
  if (!comparison.interval) return fmt::format("{} ({})", text, kNoInterval);
  const std::string tie = TieText(TieOf(comparison));
  return fmt::format("{} (95 % interval {:.3f} to {:.3f}, {} {}){}{}", text,
                     comparison.interval->low, comparison.interval->high, comparison.runs,
                     comparison.paired ? "pairs" : "runs a side", tie.empty() ? "" : ": a ", tie);
}

/// "Faster": by more than what counts as equal. Two that tie refute it.
Outcome AboveEqual(const std::optional<ConfidenceInterval>& interval) {
  constexpr double kEqual = 1 + kEqualMargin;
  if (!interval) return Outcome::kUndecided;
  if (interval->low > kEqual) return Outcome::kShown;
  return interval->high <= kEqual ? Outcome::kRefuted : Outcome::kUndecided;
}

Outcome AboutOne(const std::optional<ConfidenceInterval>& interval) {
  constexpr double kHigh = 1 + kClaimMargin;
  constexpr double kLow = 1 / kHigh;
  if (!interval) return Outcome::kUndecided;
  if (interval->low >= kLow && interval->high <= kHigh) return Outcome::kShown;
  const bool outside = interval->high < kLow || interval->low > kHigh;
  return outside ? Outcome::kRefuted : Outcome::kUndecided;
}

// --- how step times grow with the number of workers

/// Timed cells by number of workers. The cells of one line differ in nothing else.
std::vector<Cells> Lines(const std::vector<StudyCell>& cells, bool (*wanted)(const StudyCell&)) {
  using Key = std::tuple<std::map<std::string, std::string>, std::string, std::string, std::string>;
  std::map<Key, std::map<int, const StudyCell*>> lines;
  for (const StudyCell& cell : cells) {
    if (!wanted(cell) || !cell.step_ms) continue;
    lines[{cell.varied, cell.scaling, cell.strategy, cell.transport}].emplace(cell.workers, &cell);
  }
  std::vector<Cells> all;
  for (const auto& [key, by_workers] : lines) {
    Cells line;
    for (const auto& [workers, cell] : by_workers) line.push_back(cell);
    all.push_back(std::move(line));
  }
  return all;
}

std::string WorkersText(const Cells& line) {
  std::string counts;
  for (const StudyCell* cell : line) {
    counts += fmt::format("{}{}", counts.empty() ? "" : ", ", cell->workers);
  }
  return fmt::format("{} workers{}", counts, WorkloadText(*line.front()));
}

bool HaveIntervals(const Cells& line) {
  return std::ranges::all_of(
      line, [](const StudyCell* cell) { return cell->intervals.contains("step_ms"); });
}

/// The smallest and the largest time that one more worker adds between two cells.
ConfidenceInterval GrowthBetween(const StudyCell& fewer, const StudyCell& more) {
  const double workers = more.workers - fewer.workers;
  const ConfidenceInterval& from = fewer.intervals.at("step_ms");
  const ConfidenceInterval& to = more.intervals.at("step_ms");
  return {(to.low - from.high) / workers, (to.high - from.low) / workers};
}

/// The time that one more worker adds at the beginning of a line and at its end.
struct Growth {
  explicit Growth(const Cells& line)
      : first(GrowthBetween(*line[0], *line[1])),
        last(GrowthBetween(*line[line.size() - 2], *line.back())) {}

  /// The end adds clearly more, or clearly less, than a straight line would add.
  bool bends() const { return last.low > kBend * first.high || last.high * kBend < first.low; }

  ConfidenceInterval first;
  ConfidenceInterval last;
};

std::string GrowthText(const Cells& line, const Growth& growth) {
  return fmt::format(
      "one more worker adds {} ms from {} to {} workers and {} ms from {} to {} (95 % intervals of "
      "the step times)",
      SpanText(growth.first), line[0]->workers, line[1]->workers, SpanText(growth.last),
      line[line.size() - 2]->workers, line.back()->workers);
}

Claim ServerGrows(const Cells& line) {
  std::vector<double> workers;
  std::vector<double> step_ms;
  for (const StudyCell* cell : line) {
    for (const StudyRun* run : CountedRuns(*cell)) {
      if (!run->step_ms) continue;
      workers.push_back(cell->workers);
      step_ms.push_back(*run->step_ms);
    }
  }
  Claim claim{fmt::format("the step time of {} grows linearly with the workers",
                          StrategyText(*line.front())),
              WorkersText(line), Outcome::kUndecided, ""};
  const std::optional<Line> fit = FitLine(workers, step_ms);
  if (!fit) return claim;
  claim.numbers = fmt::format("{:.4g} ms a worker, R² {:.4f}", fit->slope, fit->r2);
  if (!HaveIntervals(line)) {
    claim.numbers += fmt::format("; {}", kNoInterval);
    return claim;
  }
  const Growth growth(line);
  claim.numbers += "; " + GrowthText(line, growth);
  if (growth.bends() || fit->slope <= 0) {
    claim.outcome = Outcome::kRefuted;
  } else if (fit->r2 >= kLinearR2) {
    claim.outcome = Outcome::kShown;
  }
  return claim;
}

Claim RingLevelsOff(const Cells& line) {
  Claim claim{fmt::format("the step time of {} levels off", StrategyText(*line.front())),
              WorkersText(line), Outcome::kUndecided, kNoInterval};
  if (!HaveIntervals(line)) return claim;
  const Growth growth(line);
  if (growth.last.high < growth.first.low) claim.outcome = Outcome::kShown;
  if (growth.last.low > growth.first.high) claim.outcome = Outcome::kRefuted;
  claim.numbers = GrowthText(line, growth);
  return claim;
}

void AddGrowth(const std::vector<StudyCell>& cells, std::vector<Claim>& claims) {
  constexpr std::size_t kCounts = 3;
  const auto one_server = [](const StudyCell& cell) {
    return IsServer(cell) && cell.servers == 1 && !cell.colocated;
  };
  for (const Cells& line : Lines(cells, one_server)) {
    if (line.size() >= kCounts) claims.push_back(ServerGrows(line));
  }
  // A single worker has no ring.
  const auto ring = [](const StudyCell& cell) { return IsRing(cell) && cell.workers > 1; };
  for (const Cells& line : Lines(cells, ring)) {
    if (line.size() >= kCounts) claims.push_back(RingLevelsOff(line));
  }
}

// --- servers against the ring in the same scenario

bool BeatRingInTheory(const StudyCell& cell) {
  const double n = cell.workers;
  return !cell.colocated && cell.servers > n * n / (2 * (n - 1));
}

/// The claims are about links. So the reason for a cell's distance from its bound matters.
std::string OffBoundText(const StudyCell& cell) {
  if (cell.bound_explanation.empty() || !cell.bound_ratio) return "";
  return fmt::format("; its step takes {:.2f} times its bound: {}", *cell.bound_ratio,
                     cell.bound_explanation);
}

Claim AgainstRing(const StudyCell& server, const StudyCell& ring) {
  const Comparison comparison = CompareCells(server, ring, &StudyRun::samples_per_s);
  Claim claim{"", ScenarioText(server), Outcome::kUndecided, ""};
  const std::string side = StrategyText(server);
  if (server.colocated) {
    claim.claim = fmt::format("{} is as fast as {} (within {:.0f} %)", side, StrategyText(ring),
                              kClaimMargin * 100);
    claim.outcome = AboutOne(comparison.interval);
  } else {
    claim.claim = fmt::format("{}, S > N²/(2(N−1)), is faster than {}", side, StrategyText(ring));
    claim.outcome = AboveEqual(comparison.interval);
  }
  claim.numbers = RatioText("servers' samples/s over the ring's", comparison) +
                  OffBoundText(server) + TransportsText(server, ring);
  return claim;
}

void AddServersAgainstRings(const std::vector<StudyCell>& cells, std::vector<Claim>& claims) {
  for (const StudyCell& server : cells) {
    if (!IsServer(server) || server.workers < 2 || !server.samples_per_s) continue;
    const bool everywhere = server.colocated && server.servers == server.workers;
    if (!everywhere && !BeatRingInTheory(server)) continue;
    for (const StudyCell& ring : cells) {
      const bool beside = IsRing(ring) && ring.workers == server.workers && ring.samples_per_s &&
                          PlaceOf(ring) == PlaceOf(server);
      if (beside) claims.push_back(AgainstRing(server, ring));
    }
  }
}

// --- what asynchronous updates gain and cost

void AddStaleness(const std::vector<StudyCell>& cells, std::vector<Claim>& claims) {
  for (const StudyCell& cell : cells) {
    if (!IsAsynchronous(cell) || cell.workers < 2 || !cell.staleness_mean) continue;
    const double expected = cell.workers - 1;
    Claim claim{fmt::format("updates of {} are N−1 = {} versions late on average (within {:.0f} %)",
                            StrategyText(cell), cell.workers - 1, kClaimMargin * 100),
                ScenarioText(cell), Outcome::kUndecided,
                fmt::format("{:.3f} versions", *cell.staleness_mean)};
    const auto interval = cell.intervals.find("staleness_mean");
    if (interval == cell.intervals.end()) {
      claim.numbers += fmt::format(" ({})", kNoInterval);
    } else {
      const ConfidenceInterval& ends = interval->second;
      claim.outcome = AboutOne(ConfidenceInterval{ends.low / expected, ends.high / expected});
      claim.numbers += fmt::format(" (95 % interval {:.3f} to {:.3f})", ends.low, ends.high);
    }
    if (claim.outcome != Outcome::kShown && cell.straggler_ms.value_or(0) > 0) {
      claim.numbers +=
          "; N−1 takes workers that step equally often: a slowed one pushes rarely, so fewer "
          "versions lie between the others' updates, and none between its own when they have "
          "ended";
    }
    claims.push_back(std::move(claim));
  }
}

/// From the pairs of runs of the same repetition and seed.
std::vector<double> AccuracyDifferences(const StudyCell& a, const StudyCell& b) {
  const auto by_repetition = [](const StudyCell& cell) {
    std::map<std::pair<int, std::uint64_t>, double> accuracies;
    for (const StudyRun* run : CountedRuns(cell)) {
      if (!run->accuracy) continue;
      accuracies.try_emplace({run->repetition, run->seed}, *run->accuracy);
    }
    return accuracies;
  };
  const auto partners = by_repetition(b);
  std::vector<double> differences;
  for (const auto& [repetition, accuracy] : by_repetition(a)) {
    const auto partner = partners.find(repetition);
    if (partner != partners.end()) differences.push_back(accuracy - partner->second);
  }
  return differences;
}

Claim LessAccurate(const StudyCell& relaxed, const StudyCell& strict,
                   const std::vector<double>& differences) {
  Claim claim{fmt::format("under stragglers {} is less accurate than {}", StrategyText(relaxed),
                          StrategyText(strict)),
              ScenarioText(relaxed), Outcome::kUndecided, ""};
  MedianBootstrap bootstrap;
  const auto interval = bootstrap.IntervalOf(differences);
  claim.numbers = fmt::format("median difference {:+.2f} points",
                              Median(differences).value_or(0) * 100);  // one at least
  if (!interval) {
    claim.numbers += fmt::format(" ({})", kNoInterval);
    return claim;
  }
  if (interval->high < 0) claim.outcome = Outcome::kShown;
  if (interval->low >= 0) claim.outcome = Outcome::kRefuted;
  claim.numbers += fmt::format(" (95 % interval {:+.2f} to {:+.2f}, {} pairs)", interval->low * 100,
                               interval->high * 100, differences.size());
  return claim;
}

/// The waits of slowed workers, if they differ between the two sides. A wait is a multiple of the
/// compute time, and compute takes longer where workers disturb each other on the same cores.
std::string WaitsText(const StudyCell& relaxed, const StudyCell& strict) {
  const double one = relaxed.straggler_ms.value_or(0);
  const double other = strict.straggler_ms.value_or(0);
  if (std::min(one, other) * (1 + kClaimMargin) >= std::max(one, other)) return "";
  return fmt::format(
      "; workers were slowed by {:.3g} ms a step under {} and by {:.3g} ms under {}, "
      "so the strategies explain only a part of the difference",
      one, StrategyText(relaxed), other, StrategyText(strict));
}

Claim Faster(const StudyCell& relaxed, const StudyCell& strict) {
  const Comparison speed = CompareCells(relaxed, strict, &StudyRun::samples_per_s);
  Claim claim{fmt::format("under stragglers {} is faster than {}", StrategyText(relaxed),
                          StrategyText(strict)),
              ScenarioText(relaxed), AboveEqual(speed.interval),
              RatioText("ratio of samples/s", speed) + WaitsText(relaxed, strict)};
  if (claim.outcome != Outcome::kShown) {
    claim.numbers +=
        "; every worker makes the same number of steps, so a run lasts as long as its slowest "
        "worker needs";
  }
  return claim;
}

void AddRelaxedUnderStragglers(const std::vector<StudyCell>& cells, std::vector<Claim>& claims) {
  const auto layout = [](const StudyCell& cell) {
    return std::tuple(PlaceOf(cell), cell.workers, cell.servers, cell.colocated, cell.transport);
  };
  for (const StudyCell& relaxed : cells) {
    if (!IsRelaxedServer(relaxed) || relaxed.straggler_ms.value_or(0) <= 0) continue;
    for (const StudyCell& strict : cells) {
      if (!IsServer(strict) || layout(strict) != layout(relaxed)) continue;
      claims.push_back(Faster(relaxed, strict));
      const std::vector<double> differences = AccuracyDifferences(relaxed, strict);
      if (!differences.empty()) claims.push_back(LessAccurate(relaxed, strict, differences));
    }
  }
}

/// The claims with the same text stand together, in the order of their first one.
std::vector<Claim> Grouped(std::vector<Claim> claims) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < claims.size(); ++i) first.try_emplace(claims[i].claim, i);
  std::ranges::stable_sort(claims, {}, [&](const Claim& claim) { return first.at(claim.claim); });
  return claims;
}

}  // namespace

const char* OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kShown:
      return "shown";
    case Outcome::kRefuted:
      return "refuted";
    case Outcome::kUndecided:
      return "undecided";
  }
  return "";
}

std::vector<Claim> ClaimsOf(const std::vector<StudyCell>& cells) {
  std::vector<Claim> claims;
  AddGrowth(cells, claims);
  AddServersAgainstRings(cells, claims);
  AddStaleness(cells, claims);
  AddRelaxedUnderStragglers(cells, claims);
  return Grouped(std::move(claims));
}

}  // namespace ringside
