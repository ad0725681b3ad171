#include "ringside/experiments/report/study/carrier_comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ringside/experiments/report/cells/study_cells.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {
namespace {

bool HasDefaults(const StudyCell& cell) {
  return !cell.transport_chosen && cell.congestion == kDefaultCongestion;
}

std::string ChangeText(const StudyCell& cell, const StudyCell& defaults) {
  std::vector<std::string> changes;
  if (cell.transport != defaults.transport) {
    changes.push_back(fmt::format("over {} instead of {}", cell.transport, defaults.transport));
  }
  if (cell.congestion != defaults.congestion) {
    changes.push_back(fmt::format("under {} instead of {}", cell.congestion, defaults.congestion));
  }
  return fmt::format("{}", fmt::join(changes, " and "));
}

std::string CountText(std::size_t count) {
  if (count == 1) return "1 comparison";
  return count == 2 ? "both comparisons" : fmt::format("all {} comparisons", count);
}

// "0.985x to 0.997x"
std::string RangeText(const std::vector<double>& ratios) {
  const auto [low, high] = std::ranges::minmax(ratios);
  if (ratios.size() == 1) return fmt::format("{:.3f}x", low);
  return fmt::format("{:.3f}x to {:.3f}x", low, high);
}

std::string Sentence(const std::string& change,
                     const std::vector<const CarrierComparison*>& comparisons) {
  std::string text = change + ", the same configurations ";
  text.front() = static_cast<char>(text.front() - 'a' + 'A');
  const std::size_t all = comparisons.size();
  std::vector<double> ratios;  // of those that are no tie
  std::set<std::string> ties;
  for (const CarrierComparison* comparison : comparisons) {
    const Tie tie = TieOf(comparison->over_default);
    if (tie != Tie::kNone) ties.insert(TieText(tie));
    if (tie == Tie::kNone) ratios.push_back(comparison->over_default.ratio.value_or(1));
  }
  const std::string tie = ties.size() == 1 ? *ties.begin() : "tie";
  if (ratios.empty()) return text + fmt::format("{} in {}.", tie, CountText(all));
  text += fmt::format("have {} of the samples/s", RangeText(ratios));
  if (ratios.size() == all) return text + fmt::format(" in {}.", CountText(all));
  return text + fmt::format(" in {} of {} comparisons, and {} in {}.", ratios.size(), all, tie,
                            all - ratios.size());
}

}  // namespace

std::vector<CarrierComparison> CarrierComparisonsOf(const std::vector<StudyCell>& cells) {
  std::map<std::string, const StudyCell*> defaults;
  const auto counts = [](const StudyCell& cell) {
    return cell.samples_per_s && !cell.transport.empty() && !cell.congestion.empty() &&
           !IsAllLimited(cell);
  };
  for (const StudyCell& cell : cells) {
    if (counts(cell) && HasDefaults(cell)) defaults.emplace(cell.carried, &cell);
  }
  std::vector<CarrierComparison> comparisons;
  for (const StudyCell& cell : cells) {
    const auto found = defaults.find(cell.carried);
    if (!counts(cell) || HasDefaults(cell) || found == defaults.end()) continue;
    CarrierComparison& comparison = comparisons.emplace_back();
    comparison.change = ChangeText(cell, *found->second);
    comparison.place = ScenarioText(*found->second);
    comparison.strategy = StrategyText(*found->second);
    comparison.over_default = CompareCells(cell, *found->second, &StudyRun::samples_per_s);
    comparison.certainty = CertaintyOf(comparison.over_default);
  }
  std::ranges::stable_sort(comparisons, {}, &CarrierComparison::change);
  return comparisons;
}

std::vector<std::string> CarrierSentences(const std::vector<CarrierComparison>& comparisons) {
  std::map<std::string, std::vector<const CarrierComparison*>> changes;
  for (const CarrierComparison& comparison : comparisons) {
    changes[comparison.change].push_back(&comparison);
  }
  std::vector<std::string> sentences;
  for (const auto& [change, same] : changes) sentences.push_back(Sentence(change, same));
  return sentences;
}

}  // namespace ringside
