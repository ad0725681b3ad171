#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/report/study/study_scaling.h"

namespace ringside {
namespace {

using Places = std::vector<const Finding*>;

constexpr std::size_t kPlacesNamed = 6;
constexpr double kAccuracyWorthSaying = 0.01;
constexpr std::int64_t kFewSteps = 3;

// One finding per scenario: if there are two, the one among synchronous strategies.
Places PlacesOf(const std::vector<Finding>& findings) {
  Places places;
  for (const Finding& finding : findings) {
    const bool again = !places.empty() && places.back()->workers == finding.workers &&
                       places.back()->varied == finding.varied && places.back()->synchronous_only;
    if (!again) places.push_back(&finding);
  }
  return places;
}

Places WonBy(const Places& places, std::string_view winner) {
  Places won;
  for (const Finding* finding : places) {
    if (finding->winner == winner) won.push_back(finding);
  }
  return won;
}

std::string Joined(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string Where(const Places& places) {
  const bool workloads =
      std::ranges::any_of(places, [](const Finding* finding) { return !finding->varied.empty(); });
  if (places.size() > kPlacesNamed) return fmt::format("in {} comparisons", places.size());
  std::vector<std::string> words;
  for (const Finding* finding : places) {
    std::string word = std::to_string(finding->workers);
    if (workloads) {
      word += " workers";
      for (const auto& [name, value] : finding->varied) word += fmt::format(" {}={}", name, value);
    }
    words.push_back(std::move(word));
  }
  return fmt::format("at {}{}", Joined(words), workloads ? "" : " workers");
}

// The ratio from the winner's side.
double Lead(const Finding& finding) {
  const double ratio = finding.ring_over_ps.ratio.value_or(1);
  return ratio >= 1 ? ratio : 1 / ratio;
}

std::string LeadText(const Places& places) {
  double least = Lead(*places.front());
  double most = least;
  for (const Finding* finding : places) {
    least = std::min(least, Lead(*finding));
    most = std::max(most, Lead(*finding));
  }
  const std::string low = fmt::format("{:.2f}x", least);
  const std::string high = fmt::format("{:.2f}x", most);
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string WonText(const Places& places, const char* who, const char* over) {
  return fmt::format("{} faster than {} {} ({})", who, over, Where(places), LeadText(places));
}

// The weakest certainty. A scenario in which neither wins is a result of its own and does not
// weaken others.
Certainty WeakestOf(const Places& places) {
  if (places.empty()) return Certainty::kUnclear;
  const bool points = std::ranges::any_of(places, [](const Finding* finding) {
    return finding->certainty == Certainty::kPointEstimateOnly;
  });
  return points ? Certainty::kPointEstimateOnly : Certainty::kClear;
}

const char* CertaintyText(Certainty certainty) {
  switch (certainty) {
    case Certainty::kClear:
      return "sure: every 95 % interval leaves out equality";
    case Certainty::kUnclear:
      return "not sure: the 95 % intervals contain equality";
    case Certainty::kPointEstimateOnly:
      return "points only: with fewer than five runs there is no interval";
  }
  return "";
}

std::string Capitalized(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

void Judge(const Places& places, StudyVerdict& verdict) {
  const Places ring = WonBy(places, "ring");
  const Places server = WonBy(places, "parameter server");
  const Places neither = WonBy(places, "neither");
  std::vector<std::string> parts;
  if (!ring.empty()) parts.push_back(WonText(ring, "the ring is", "the best parameter server"));
  if (!server.empty()) {
    parts.push_back(WonText(server, "the best parameter server is", "the best ring"));
  }
  if (!neither.empty()) {
    parts.push_back(fmt::format("the runs do not tell them apart {}", Where(neither)));
  }
  Places won = ring;
  won.insert(won.end(), server.begin(), server.end());
  verdict.certainty = WeakestOf(won);
  if (won.empty()) {
    verdict.winner = "neither";
  } else if (!ring.empty() && !server.empty()) {
    verdict.winner = "depends";
  } else {
    verdict.winner = ring.empty() ? "parameter server" : "ring";
  }
  const char* start = verdict.winner == "depends" ? "It depends: " : "";
  verdict.sentence = Capitalized(
      fmt::format("{}{}; {}.", start, fmt::join(parts, "; "), CertaintyText(verdict.certainty)));
}

std::string AccuracyCaveat(const StudyCell& server, const StudyCell& ring) {
  if (!server.accuracy || !ring.accuracy) return "";
  if (std::abs(*server.accuracy - *ring.accuracy) < kAccuracyWorthSaying) return "";
  return fmt::format("At {} workers {} ends at an accuracy of {:.2f} %, {} at {:.2f} %.",
                     server.workers, StrategyText(server), *server.accuracy * 100,
                     StrategyText(ring), *ring.accuracy * 100);
}

// The differences between the compared cells.
std::vector<std::string> CaveatsOfPairs(const StudyTable& table) {
  std::set<std::pair<std::string, std::string>> transports;  // servers', rings'
  std::set<std::string> accuracies;
  int servers = 0;
  for (const Finding& finding : table.findings) {
    const StudyCell& server = table.cells[finding.ps_cell];
    const StudyCell& ring = table.cells[finding.ring_cell];
    if (!server.colocated) servers = std::max(servers, server.servers);
    if (finding.transports_differ) transports.emplace(server.transport, ring.transport);
    if (std::string caveat = AccuracyCaveat(server, ring); !caveat.empty()) {
      accuracies.insert(std::move(caveat));
    }
  }
  std::vector<std::string> caveats(accuracies.begin(), accuracies.end());
  if (servers > 0) {
    caveats.push_back(
        fmt::format("Dedicated servers are processes besides the workers: up to {} in these "
                    "comparisons.",
                    servers));
  }
  for (const auto& [server, ring] : transports) {
    caveats.push_back(fmt::format(
        "Servers over {} are compared with rings over {}: transports differ too.", server, ring));
  }
  return caveats;
}

int CountRuns(const StudyTable& table, bool (*wanted)(const StudyRun&)) {
  int count = 0;
  for (const StudyCell& cell : table.cells) {
    count += static_cast<int>(std::ranges::count_if(cell.results, wanted));
  }
  return count;
}

std::size_t CountCells(const StudyTable& table, std::string_view flag) {
  return static_cast<std::size_t>(std::ranges::count_if(
      table.cells, [&](const StudyCell& cell) { return cell.bound_flag == flag; }));
}

std::string OneOrMany(std::size_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, many);
}

}  // namespace

StudyVerdict VerdictOf(const StudyTable& table) {
  StudyVerdict verdict;
  if (table.findings.empty()) {
    verdict.winner = "none";
    verdict.sentence =
        "No verdict: the study has no parameter server and ring with the same number of workers, "
        "more than one, and the same workload.";
    return verdict;
  }
  Judge(PlacesOf(table.findings), verdict);
  verdict.caveats = CaveatsOfPairs(table);
  if (std::ranges::any_of(table.cells, &StudyCell::emulated_compute)) {
    verdict.caveats.emplace_back("Compute time was emulated; every byte was really sent.");
  }
  if (!table.environment_differences.empty()) {
    verdict.caveats.push_back(fmt::format("Runs had different environments: {}.",
                                          fmt::join(table.environment_differences, ", ")));
  }
  return verdict;
}

StudyMethod MethodOf(const StudyTable& table) {
  StudyMethod method;
  method.outliers =
      "marked where a run's step time lies more than 3.5 robust standard deviations (1.4826 x MAD) "
      "from its cell's median, with five runs or more; never dropped";
  method.warmup =
      "each run leaves out the first steps that its spec declares (warmup_steps); then it also "
      "leaves out the last step, which waits for two communications, because the first waits for "
      "none. The runs also have the number of steps that MSER-5 would leave out by rank 0's step "
      "times. A run is named if that changes its mean step time by more than 1 %";
  const auto warn = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) method.warnings.push_back(OneOrMany(count, one, many));
  };
  const auto runs = [&](bool (*wanted)(const StudyRun&)) {
    return static_cast<std::size_t>(CountRuns(table, wanted));
  };
  warn(runs([](const StudyRun& run) { return run.link_ok == false; }),
       "run had a link that was not as asked", "runs had links that were not as asked");
  warn(runs([](const StudyRun& run) { return run.timed_steps.value_or(kFewSteps) < kFewSteps; }),
       "run's times come from one or two steps only",
       "runs' times come from one or two steps only");
  warn(runs([](const StudyRun& run) { return run.warmup_short; }),
       "run still warmed up after the steps that are left out, by MSER-5",
       "runs still warmed up after the steps that are left out, by MSER-5");
  warn(runs([](const StudyRun& run) { return run.outlier; }), "run is marked as an outlier",
       "runs are marked as outliers");
  warn(table.failed.size(), "run did not finish well", "runs did not finish well");
  warn(CountCells(table, "above"), "cell takes more than 1.15 times its bound",
       "cells take more than 1.15 times their bounds");
  warn(CountCells(table, "below"), "cell is faster than its bound: one of the two is wrong",
       "cells are faster than their bounds: one of the two is wrong");
  return method;
}

}  // namespace ringside
