#include "ringside/experiments/spec/resolve/refusals.h"

#include <algorithm>
#include <span>

#include "ringside/experiments/text/did_you_mean.h"

namespace ringside {
namespace {

template <typename Entry>
const Entry& EntryOf(const Entry* found, std::span<const Entry> table, std::string_view key,
                     std::string_view what, std::string_view name, std::string_view file) {
  if (found != nullptr) return *found;
  std::vector<std::string_view> names;
  for (const Entry& entry : table) names.emplace_back(entry.name);
  // A name that the catalog has and does not find lacks the path that follows it.
  Refuse(std::ranges::find(names, name) != names.end(), key, "{0} needs a file, as in {0}{1}", name,
         file);
  RefuseUnknown(key, what, name, names);
}

}  // namespace

void RefuseUnknown(std::string_view key, std::string_view what, std::string_view name,
                   const std::vector<std::string_view>& names) {
  throw SpecKeyError(std::string(key),
                     fmt::format("no {} is called '{}'{}; there are {}", what, name,
                                 DidYouMean(name, names), fmt::join(names, ", ")));
}

const StrategyEntry& StrategyOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindStrategy(spec.strategy), catalog.strategies(), "strategy", "strategy",
                 spec.strategy, "");
}

const ModelEntry& ModelOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindModel(spec.model), catalog.models(), "model", "model", spec.model,
                 "net.pt");
}

const DatasetEntry& DatasetOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindDataset(spec.data), catalog.datasets(), "data", "dataset", spec.data,
                 "data.npz");
}

std::string OfModels(const RunSpec& spec, bool ModelTraits::*trait, std::string_view one_does,
                     std::string_view many_do) {
  std::vector<std::string_view> names;
  for (const ModelEntry& model : spec.catalog().models()) {
    if (model.traits.*trait) names.emplace_back(model.name);
  }
  if (names.empty()) return fmt::format("no model {}", one_does);
  return fmt::format("only {} {}", fmt::join(names, ", "), names.size() == 1 ? one_does : many_do);
}

}  // namespace ringside
