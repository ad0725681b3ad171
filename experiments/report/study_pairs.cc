#include "experiments/report/study_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "experiments/report/study_cells.h"
#include "experiments/report/study_scaling.h"
#include "experiments/spec_keys.h"
#include "experiments/strategy_table.h"
#include "experiments/transport.h"

namespace ringside {
namespace {

using Cells = std::vector<const StudyCell*>;

constexpr char kBaseline[] = "ring";

/// Null where nothing synchronises.
const StudyCell* BaselineOf(const Cells& cells) {
  const auto ring = std::ranges::find(cells, kBaseline, &StudyCell::strategy);
  if (ring != cells.end()) return *ring;
  const auto first = std::ranges::find_if(cells, &StudyCell::synchronous);
  return first == cells.end() ? nullptr : *first;
}

bool Reads(const StudyCell& cell, const std::string& key) {
  const StrategyEntry* strategy = FindStrategy(cell.strategy);
  const SpecKey* known = FindSpecKey(key);
  return strategy != nullptr && known != nullptr &&
         std::ranges::find(strategy->keys, known->name) != strategy->keys.end();
}

/// With the options of the strategy itself that the study varies.
std::string ConfigurationText(const StudyCell& cell) {
  const Workload shared = SharedKeys(cell, true);
  std::string text = SideText(cell);
  for (const auto& [name, value] : cell.varied) {
    if (!shared.contains(name) && Reads(cell, name)) text += fmt::format(", {}={}", name, value);
  }
  return text;
}

StudyPair PairOf(const StudyCell& cell, const StudyCell& baseline) {
  StudyPair pair{.place = PlaceText(cell),
                 .compared = ConfigurationText(cell),
                 .baseline = ConfigurationText(baseline),
                 .over_baseline = CompareCells(cell, baseline, &StudyRun::samples_per_s)};
  pair.certainty = CertaintyOf(pair.over_baseline);
  pair.transports_differ = !AlikeTransports(cell.transport, baseline.transport);
  return pair;
}

}  // namespace

std::vector<StudyPair> PairsOf(const std::vector<StudyCell>& cells) {
  std::map<std::tuple<Workload, std::string, int>, Cells> places;
  for (const StudyCell& cell : cells) {
    if (cell.workers < 2 || !cell.samples_per_s) continue;
    places[{SharedKeys(cell, true), cell.scaling, cell.workers}].push_back(&cell);
  }
  std::vector<StudyPair> pairs;
  for (const auto& [place, beside] : places) {
    const StudyCell* baseline = BaselineOf(beside);
    if (baseline == nullptr) continue;
    for (const StudyCell* cell : beside) {
      if (cell != baseline) pairs.push_back(PairOf(*cell, *baseline));
    }
  }
  return pairs;
}

}  // namespace ringside
