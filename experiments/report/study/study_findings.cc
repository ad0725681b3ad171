#include "ringside/experiments/report/study/study_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

/// Which pair of a place a finding takes.
struct Choice {
  std::string medium;              ///< Both use it. Empty: the pair may use any transports.
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

std::string ScenarioText(const Finding& finding, bool names_medium) {
  std::string text =
      fmt::format("{} {}{}{}", finding.workers, finding.workers == 1 ? "worker" : "workers",
                  names_medium ? " over " : "", names_medium ? finding.medium : "");
  std::string keys;
  for (const auto& [name, value] : finding.varied) {
    keys += fmt::format("{}{}={}", keys.empty() ? "" : ", ", name, value);
  }
  return keys.empty() ? text : fmt::format("{} ({})", text, keys);
}

std::string Sentence(const std::vector<StudyCell>& cells, const Finding& finding,
                     bool names_medium) {
  const StudyCell& ring = cells[finding.ring_cell];
  const StudyCell& server = cells[finding.ps_cell];
  const bool ring_ahead = finding.ring_over_ps.ratio.value_or(1) >= 1;
  const Comparison comparison = ring_ahead ? finding.ring_over_ps : Turned(finding.ring_over_ps);
  const StudyCell& first = ring_ahead ? ring : server;
  const StudyCell& second = ring_ahead ? server : ring;
  const std::string scenario = ScenarioText(finding, names_medium);
  const std::string transports = TransportsText(first, second);
  if (finding.certainty == Certainty::kUnclear) {
    return fmt::format("the runs do not tell {} and {} apart at {}: ratio {:.2f} ({}){}",
                       StrategyText(first), StrategyText(second), scenario,
                       comparison.ratio.value_or(1), CertaintyText(comparison), transports);
  }
  return fmt::format("{} is {:.2f}x as fast as {} at {} ({}){}", StrategyText(first),
                     comparison.ratio.value_or(1), StrategyText(second), scenario,
                     CertaintyText(comparison), transports);
}

std::string WinnerOf(const Finding& finding) {
  if (finding.certainty == Certainty::kUnclear || !finding.ring_over_ps.ratio) return "neither";
  if (*finding.ring_over_ps.ratio == 1) return "neither";
  return *finding.ring_over_ps.ratio > 1 ? FamilyName(Family::kRing)
                                         : FamilyName(Family::kParameterServer);
}

Finding MakeFinding(const std::vector<StudyCell>& cells, const Place& place, const Pair& pair,
                    const Choice& choice) {
  Finding finding;
  finding.workers = std::get<int>(place);
  finding.varied = std::get<Workload>(place);
  finding.synchronous_only = choice.synchronous_only;
  finding.medium = choice.medium;
  finding.ps_cell = pair.server;
  finding.ring_cell = pair.ring;
  finding.metric = "samples_per_s";
  const StudyCell& ring = cells[pair.ring];
  const StudyCell& server = cells[pair.server];
  finding.ring_over_ps = CompareCells(ring, server, &StudyRun::samples_per_s);
  finding.certainty = CertaintyOf(finding.ring_over_ps);
  finding.winner = WinnerOf(finding);
  finding.transports_differ = !AreComparable(ring, server);
  finding.sentence = Sentence(cells, finding, choice.names_medium);
  return finding;
}

std::optional<Pair> FastestPair(const std::vector<StudyCell>& cells,
                                const std::vector<std::size_t>& indices, bool synchronous_only) {
  const auto server = Fastest(cells, indices, Family::kParameterServer, synchronous_only);
  const auto ring = Fastest(cells, indices, Family::kRing, synchronous_only);
  if (!server || !ring) return std::nullopt;
  return Pair{*server, *ring};
}

/// The media of the place's servers and rings. Empty where no cell has a known transport.
std::set<std::string> MediaOf(const std::vector<StudyCell>& cells,
                              const std::vector<std::size_t>& indices) {
  std::set<std::string> media;
  for (const std::size_t index : indices) {
    const StudyCell& cell = cells[index];
    const bool compared = cell.traits && (cell.traits->family == Family::kParameterServer ||
                                          cell.traits->family == Family::kRing);
    if (compared && !cell.transport.empty()) media.insert(cell.medium);
  }
  return media;
}

/// The cells that may be compared with each other over the medium.
std::vector<std::size_t> CellsOver(const std::vector<StudyCell>& cells,
                                   const std::vector<std::size_t>& indices,
                                   const std::string& medium) {
  std::vector<std::size_t> over;
  for (const std::size_t index : indices) {
    if (cells[index].transport.empty() || cells[index].medium == medium) over.push_back(index);
  }
  return over;
}

/// Adds the finding about the fastest pair. If a relaxed strategy is in that pair, adds one about
/// the fastest synchronous pair before it.
void AddFindings(const std::vector<StudyCell>& cells, const Place& place,
                 const std::vector<std::size_t>& indices, Choice choice,
                 std::vector<Finding>& findings) {
  const auto add = [&](const Pair& pair) {
    Finding finding = MakeFinding(cells, place, pair, choice);
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

/// Adds the findings over each medium, then those across transports.
void AddFindingsOfPlace(const std::vector<StudyCell>& cells, const Place& place,
                        const std::vector<std::size_t>& indices, std::vector<Finding>& findings) {
  const std::set<std::string> media = MediaOf(cells, indices);
  const bool several = media.size() > 1;
  for (const std::string& medium : media) {
    const Choice choice{.medium = medium, .names_medium = several};
    AddFindings(cells, place, CellsOver(cells, indices, medium), choice, findings);
  }
  if (media.empty() || several) {
    AddFindings(cells, place, indices, {.medium = "", .transports_differ = several}, findings);
  }
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
    AddFindingsOfPlace(cells, place, indices, findings);
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
