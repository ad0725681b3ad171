#include "ringside/experiments/report/study/baseline_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"

namespace ringside {
namespace {

using Cells = std::vector<const StudyCell*>;

/// The plain ring, or else the first synchronous strategy; null when there is none.
const StudyCell* BaselineOf(const Cells& cells) {
  const auto ring = std::ranges::find_if(cells, [](const StudyCell* cell) {
    return cell->synchronous && cell->traits->topology == Topology::kRing;
  });
  if (ring != cells.end()) return *ring;
  const auto first = std::ranges::find_if(cells, &StudyCell::synchronous);
  return first == cells.end() ? nullptr : *first;
}

/// The cell's text, with the strategy's own options that the study varies.
std::string ConfigurationText(const StudyCell& cell) {
  const Workload shared = SharedKeys(cell, true);
  std::string text = StrategyText(cell);
  for (const auto& [name, value] : cell.varied) {
    if (!shared.contains(name) && cell.own_options.contains(name))
      text += ", " + cell.conditions.at(name);
  }
  return text;
}

BaselineComparison PairOf(const StudyCell& cell, const StudyCell& baseline) {
  BaselineComparison pair{.place = ScenarioText(cell),
                          .compared = ConfigurationText(cell),
                          .baseline = ConfigurationText(baseline),
                          .over_baseline = CompareCells(cell, baseline, &StudyRun::samples_per_s)};
  pair.certainty = CertaintyOf(pair.over_baseline);
  pair.transports_differ = !AreComparable(cell, baseline);
  return pair;
}

}  // namespace

std::vector<BaselineComparison> BaselineComparisonsOf(const std::vector<StudyCell>& cells) {
  std::map<std::tuple<Workload, std::string, int>, Cells> places;
  for (const StudyCell& cell : cells) {
    if (cell.workers < 2 || !cell.samples_per_s || IsAllLimited(cell)) continue;
    places[{SharedKeys(cell, true), cell.scaling, cell.workers}].push_back(&cell);
  }
  std::vector<Cells> in_order;
  for (auto& [place, beside] : places) in_order.push_back(std::move(beside));
  // The cells' order knows rates from names. All pointers are into one vector.
  std::ranges::sort(in_order, {}, [](const Cells& beside) { return beside.front(); });
  std::vector<BaselineComparison> pairs;
  for (const Cells& beside : in_order) {
    const StudyCell* baseline = BaselineOf(beside);
    if (baseline == nullptr) continue;
    for (const StudyCell* cell : beside) {
      if (cell != baseline) pairs.push_back(PairOf(*cell, *baseline));
    }
  }
  return pairs;
}

}  // namespace ringside
