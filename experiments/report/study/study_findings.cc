#include "ringside/experiments/report/study/study_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ringside/common/strategy/strategy_traits.h"
#include "ringside/experiments/report/study/study_cells.h"
#include "ringside/experiments/report/study/study_fidelity.h"
#include "ringside/experiments/report/study/study_judgement.h"
#include "ringside/experiments/report/study/study_scaling.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/statistics/bootstrap.h"

namespace ringside {
namespace {

/// The values that both sides of a finding must share.
using Place = std::tuple<Workload, std::string, int>;  // workload, scaling, workers

using Places = std::map<Place, std::vector<std::size_t>>;

Places PlacesOf(const std::vector<StudyCell>& cells) {
  Places places;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].workers < 2) continue;
    places[{SharedKeys(cells[i], true), cells[i].scaling, cells[i].workers}].push_back(i);
  }
  return places;
}

/// The index of the fastest cell of one family, if any. Leaves out cells that the machine limited.
std::optional<std::size_t> Fastest(const std::vector<StudyCell>& cells,
                                   const std::vector<std::size_t>& indices, Family family,
                                   bool synchronous_only) {
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

std::string CertaintyText(const Comparison& comparison) {
  if (!comparison.interval) {
    return fmt::format("points only, no interval: {}", RunsText(comparison.runs));
  }
  return fmt::format("95 % interval {:.2f} to {:.2f}, {}, ahead in {:.0f} % of the {}",
                     comparison.interval->low, comparison.interval->high, RunsText(comparison.runs),
                     comparison.p_greater.value_or(0) * 100,
                     comparison.paired ? "pairs" : "combinations, each side resampled by itself");
}

std::string ScenarioText(const Finding& finding) {
  std::string text =
      fmt::format("{} {}", finding.workers, finding.workers == 1 ? "worker" : "workers");
  std::string keys;
  for (const auto& [name, value] : finding.varied) {
    keys += fmt::format("{}{}={}", keys.empty() ? "" : ", ", name, value);
  }
  return keys.empty() ? text : fmt::format("{} ({})", text, keys);
}

std::string Sentence(const std::vector<StudyCell>& cells, const Finding& finding) {
  const StudyCell& ring = cells[finding.ring_cell];
  const StudyCell& server = cells[finding.ps_cell];
  const bool ring_ahead = finding.ring_over_ps.ratio.value_or(1) >= 1;
  const Comparison comparison = ring_ahead ? finding.ring_over_ps : Turned(finding.ring_over_ps);
  const StudyCell& first = ring_ahead ? ring : server;
  const StudyCell& second = ring_ahead ? server : ring;
  const std::string transports = TransportsText(first, second);
  if (finding.certainty == Certainty::kUnclear) {
    return fmt::format("the runs do not tell {} and {} apart at {}: ratio {:.2f} ({}){}",
                       StrategyText(first), StrategyText(second), ScenarioText(finding),
                       comparison.ratio.value_or(1), CertaintyText(comparison), transports);
  }
  return fmt::format("{} is {:.2f}x as fast as {} at {} ({}){}", StrategyText(first),
                     comparison.ratio.value_or(1), StrategyText(second), ScenarioText(finding),
                     CertaintyText(comparison), transports);
}

std::string WinnerOf(const Finding& finding) {
  if (finding.certainty == Certainty::kUnclear || !finding.ring_over_ps.ratio) return "neither";
  if (*finding.ring_over_ps.ratio == 1) return "neither";
  return *finding.ring_over_ps.ratio > 1 ? FamilyName(Family::kRing)
                                         : FamilyName(Family::kParameterServer);
}

Finding MakeFinding(const std::vector<StudyCell>& cells, const Place& place, std::size_t server,
                    std::size_t ring, bool synchronous_only) {
  Finding finding;
  finding.workers = std::get<int>(place);
  finding.varied = std::get<Workload>(place);
  finding.synchronous_only = synchronous_only;
  finding.ps_cell = server;
  finding.ring_cell = ring;
  finding.metric = "samples_per_s";
  finding.ring_over_ps = CompareCells(cells[ring], cells[server], &StudyRun::samples_per_s);
  finding.certainty = CertaintyOf(finding.ring_over_ps);
  finding.winner = WinnerOf(finding);
  finding.transports_differ = !AreComparable(cells[ring], cells[server]);
  finding.sentence = Sentence(cells, finding);
  return finding;
}

void AddFindings(const std::vector<StudyCell>& cells, const Place& place,
                 const std::vector<std::size_t>& indices, std::vector<Finding>& findings) {
  const auto server = Fastest(cells, indices, Family::kParameterServer, false);
  const auto ring = Fastest(cells, indices, Family::kRing, false);
  if (!server || !ring) return;
  const auto strict_server = Fastest(cells, indices, Family::kParameterServer, true);
  const auto strict_ring = Fastest(cells, indices, Family::kRing, true);
  const bool relaxed = strict_server != server || strict_ring != ring;
  if (relaxed && strict_server && strict_ring) {
    findings.push_back(MakeFinding(cells, place, *strict_server, *strict_ring, true));
  }
  findings.push_back(MakeFinding(cells, place, *server, *ring, false));
}

}  // namespace

const char* CertaintyName(Certainty certainty) {
  switch (certainty) {
    case Certainty::kClear:
      return "clear";
    case Certainty::kUnclear:
      return "unclear";
    case Certainty::kPointEstimateOnly:
      return "points only";
  }
  return "";
}

Certainty CertaintyOf(const Comparison& comparison) {
  if (!comparison.interval) return Certainty::kPointEstimateOnly;
  const bool holds_one = comparison.interval->low <= 1 && comparison.interval->high >= 1;
  return holds_one ? Certainty::kUnclear : Certainty::kClear;
}

std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells) {
  std::vector<Finding> findings;
  for (const auto& [place, indices] : PlacesOf(cells)) {
    AddFindings(cells, place, indices, findings);
  }
  return findings;
}

bool HasBothFamilies(const std::vector<StudyCell>& cells) {
  return std::ranges::any_of(PlacesOf(cells), [&](const auto& place) {
    const auto has = [&](Family family) {
      return std::ranges::any_of(place.second, [&](std::size_t index) {
        const StudyCell& cell = cells[index];
        return cell.traits && cell.traits->family == family && cell.samples_per_s;
      });
    };
    return has(Family::kRing) && has(Family::kParameterServer);
  });
}

}  // namespace ringside
