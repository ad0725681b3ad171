#include "ringside/experiments/report/study/study_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "ringside/common/strategy/strategy_traits.h"
#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/statistics/bootstrap.h"

namespace ringside {
namespace {

/// The values that both sides of a finding must share.
using Scenario = std::tuple<Workload, std::string, int>;  // workload, scaling, workers

/// Indices of cells.
using Indices = std::vector<std::size_t>;

/// The cells of each scenario. Scenarios are in the order of their first cells.
std::vector<std::pair<Scenario, Indices>> ScenariosOf(const std::vector<StudyCell>& cells) {
  std::map<Scenario, Indices> by_scenario;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].workers < 2) continue;
    by_scenario[{SharedKeys(cells[i], true), cells[i].scaling, cells[i].workers}].push_back(i);
  }
  std::vector<std::pair<Scenario, Indices>> scenarios(by_scenario.begin(), by_scenario.end());
  std::ranges::sort(scenarios, {}, [](const auto& scenario) { return scenario.second.front(); });
  return scenarios;
}

/// Which pair of a scenario a finding takes.
struct Choice {
  std::string medium;              ///< Both use it. Empty: any transports.
  bool names_medium = false;       ///< The sentence says the medium.
  bool transports_differ = false;  ///< Only a pair whose transports differ.
  bool synchronous_only = false;
};

/// Indices of the fastest parameter server and the fastest ring.
struct Pair {
  std::size_t server = 0;
  std::size_t ring = 0;
  bool operator==(const Pair&) const = default;
};

/// The index of the fastest cell of one family, if any. Leaves out cells that the machine limited.
std::optional<std::size_t> Fastest(const std::vector<StudyCell>& cells, const Indices& indices,
                                   Family family, bool synchronous_only) {
  std::optional<std::size_t> best;
  double best_rate = 0;
  for (const std::size_t index : indices) {
    const StudyCell& cell = cells[index];
    if (!cell.traits || cell.traits->family != family || !cell.samples_per_s) continue;
    if (IsAllLimited(cell)) continue;
    if (synchronous_only && !cell.synchronous) continue;
    if (best && *cell.samples_per_s <= best_rate) continue;
    best = index;
    best_rate = *cell.samples_per_s;
  }
  return best;
}

/// The ratio and the probability, from the winner's side.
Comparison Turned(const Comparison& comparison) {
  Comparison turned = comparison;
  if (comparison.ratio) turned.ratio = 1 / *comparison.ratio;
  if (comparison.interval) {
    turned.interval =
        ConfidenceInterval{1 / comparison.interval->high, 1 / comparison.interval->low};
  }
  if (comparison.p_greater) turned.p_greater = 1 - *comparison.p_greater;
  return turned;
}

std::string RunsText(std::size_t runs) {
  return runs == 1 ? "1 run" : fmt::format("{} runs", runs);
}

/// `digits` of the interval, after the point.
std::string CertaintyText(const Comparison& comparison, int digits = 2) {
  if (!comparison.interval) {
    return fmt::format("points only, no interval: {}", RunsText(comparison.runs));
  }
  return fmt::format("95 % interval {:.{}f} to {:.{}f}, {}, ahead in {:.0f} % of the {}",
                     comparison.interval->low, digits, comparison.interval->high, digits,
                     RunsText(comparison.runs), comparison.p_greater.value_or(0) * 100,
                     comparison.paired ? "pairs" : "combinations, each side resampled by itself");
}

std::string ScenarioText(const Finding& finding, bool names_medium) {
  std::vector<std::string> conditions;
  for (const auto& [name, condition] : finding.conditions) conditions.push_back(condition);
  return fmt::format("{} {}{}{}{}", finding.workers, finding.workers == 1 ? "worker" : "workers",
                     names_medium ? " over " : "", names_medium ? finding.medium : "",
                     AfterNoun(std::move(conditions)));
}

/// What else differs between the two sides.
std::string OtherDifferences(const StudyCell& first, const StudyCell& second,
                             const Finding& finding) {
  std::string text = TransportsText(first, second);
  if (finding.server_hosts == 0) return text;
  return text + fmt::format("; the servers have {} {} more", finding.server_hosts,
                            finding.server_hosts == 1 ? "host" : "hosts");
}

/// "With 4 workers at 100 Mbit/s, ring is 1.31x as fast as ps-sync with 1 server (...)".
std::string Sentence(const std::vector<StudyCell>& cells, const Finding& finding,
                     bool names_medium) {
  const StudyCell& ring = cells[finding.ring_cell];
  const StudyCell& server = cells[finding.ps_cell];
  const bool ring_ahead = finding.ring_over_ps.ratio.value_or(1) >= 1;
  const Comparison comparison = ring_ahead ? finding.ring_over_ps : Turned(finding.ring_over_ps);
  const StudyCell& first = ring_ahead ? ring : server;
  const StudyCell& second = ring_ahead ? server : ring;
  const Tie tie = TieOf(comparison);
  const double ratio = comparison.ratio.value_or(1);
  const std::string what = tie == Tie::kNone
                               ? fmt::format("{} is {:.2f}x as fast as {}", StrategyText(first),
                                             ratio, StrategyText(second))
                               : fmt::format("{} and {} {}: ratio {:.3f}", StrategyText(first),
                                             StrategyText(second), TieText(tie), ratio);
  return fmt::format("With {}, {} ({}){}", ScenarioText(finding, names_medium), what,
                     CertaintyText(comparison, tie == Tie::kNone ? 2 : 3),
                     OtherDifferences(first, second, finding));
}

std::string WinnerOf(const Finding& finding) {
  const Comparison& comparison = finding.ring_over_ps;
  if (!comparison.ratio || IsTie(comparison)) return "neither";
  return *comparison.ratio > 1 ? FamilyName(Family::kRing) : FamilyName(Family::kParameterServer);
}

Finding MakeFinding(const std::vector<StudyCell>& cells, const Scenario& scenario, const Pair& pair,
                    const Choice& choice) {
  const StudyCell& ring = cells[pair.ring];
  const StudyCell& server = cells[pair.server];
  Finding finding;
  finding.workers = std::get<int>(scenario);
  finding.varied = std::get<Workload>(scenario);
  for (const auto& [name, value] : finding.varied) {
    finding.conditions[name] = ring.conditions.at(name);
  }
  finding.synchronous_only = choice.synchronous_only;
  finding.medium = choice.medium;
  finding.server_hosts = server.server_hosts;
  finding.ps_cell = pair.server;
  finding.ring_cell = pair.ring;
  finding.metric = "samples_per_s";
  finding.ring_over_ps = CompareCells(ring, server, &StudyRun::samples_per_s);
  finding.certainty = CertaintyOf(finding.ring_over_ps);
  finding.winner = WinnerOf(finding);
  finding.transports_differ = !AreComparable(ring, server);
  finding.sentence = Sentence(cells, finding, choice.names_medium);
  return finding;
}

std::optional<Pair> FastestPair(const std::vector<StudyCell>& cells, const Indices& indices,
                                bool synchronous_only) {
  const auto server = Fastest(cells, indices, Family::kParameterServer, synchronous_only);
  const auto ring = Fastest(cells, indices, Family::kRing, synchronous_only);
  if (!server || !ring) return std::nullopt;
  return Pair{*server, *ring};
}

/// The media of servers and rings. Empty where no cell has a known transport.
std::set<std::string> MediaOf(const std::vector<StudyCell>& cells, const Indices& indices) {
  std::set<std::string> media;
  for (const std::size_t index : indices) {
    const StudyCell& cell = cells[index];
    const bool compared = cell.traits && cell.traits->family != Family::kNone;
    if (compared && !cell.transport.empty()) media.insert(cell.medium);
  }
  return media;
}

/// The cells for which `wanted` is true.
template <typename Wanted>
Indices Selected(const std::vector<StudyCell>& cells, const Indices& indices,
                 const Wanted& wanted) {
  Indices selected;
  std::ranges::copy_if(indices, std::back_inserter(selected),
                       [&](std::size_t index) { return wanted(cells[index]); });
  return selected;
}

bool IsServer(const StudyCell& cell) {
  return cell.traits && cell.traits->family == Family::kParameterServer;
}

/// Adds the finding about the fastest pair. If a relaxed strategy is in that pair, adds one about
/// the fastest synchronous pair before it.
void AddFindings(const std::vector<StudyCell>& cells, const Scenario& scenario,
                 const Indices& indices, Choice choice, std::vector<Finding>& findings) {
  const auto add = [&](const Pair& pair) {
    Finding finding = MakeFinding(cells, scenario, pair, choice);
    if (choice.transports_differ && !finding.transports_differ) return;
    findings.push_back(std::move(finding));
  };
  const std::optional<Pair> fastest = FastestPair(cells, indices, false);
  if (!fastest) return;
  const std::optional<Pair> strict = FastestPair(cells, indices, true);
  if (strict && *strict != *fastest) {
    choice.synchronous_only = true;
    add(*strict);
  }
  choice.synchronous_only = false;
  add(*fastest);
}

/// Adds the findings about servers on the workers' hosts, then those about servers with hosts of
/// their own.
void AddFindingsByHosts(const std::vector<StudyCell>& cells, const Scenario& scenario,
                        const Indices& indices, const Choice& choice,
                        std::vector<Finding>& findings) {
  const auto on_workers_hosts = [](const StudyCell& cell) { return cell.server_hosts == 0; };
  const auto elsewhere_or_ring = [](const StudyCell& cell) {
    return cell.server_hosts > 0 || !IsServer(cell);
  };
  AddFindings(cells, scenario, Selected(cells, indices, on_workers_hosts), choice, findings);
  AddFindings(cells, scenario, Selected(cells, indices, elsewhere_or_ring), choice, findings);
}

/// Adds the findings over each medium, then those across transports.
void AddFindingsOf(const std::vector<StudyCell>& cells, const Scenario& scenario,
                   const Indices& indices, std::vector<Finding>& findings) {
  const std::set<std::string> media = MediaOf(cells, indices);
  const bool several = media.size() > 1;
  for (const std::string& medium : media) {
    const auto over = [&](const StudyCell& cell) {
      return cell.transport.empty() || cell.medium == medium;
    };
    AddFindingsByHosts(cells, scenario, Selected(cells, indices, over),
                       {.medium = medium, .names_medium = several}, findings);
  }
  if (media.empty()) AddFindingsByHosts(cells, scenario, indices, {.medium = ""}, findings);
  if (several) {
    AddFindings(cells, scenario, indices, {.medium = "", .transports_differ = true}, findings);
  }
}

}  // namespace

std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells) {
  std::vector<Finding> findings;
  for (const auto& [scenario, indices] : ScenariosOf(cells)) {
    AddFindingsOf(cells, scenario, indices, findings);
  }
  return findings;
}

bool HasBothFamilies(const std::vector<StudyCell>& cells) {
  return std::ranges::any_of(ScenariosOf(cells), [&](const auto& scenario) {
    const auto has = [&](Family family) {
      return std::ranges::any_of(scenario.second, [&](std::size_t index) {
        const StudyCell& cell = cells[index];
        return cell.traits && cell.traits->family == family && cell.samples_per_s;
      });
    };
    return has(Family::kRing) && has(Family::kParameterServer);
  });
}

}  // namespace ringside
