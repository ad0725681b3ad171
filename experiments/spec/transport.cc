#include "ringside/experiments/spec/transport.h"

#include <algorithm>

#include "ringside/experiments/spec/catalog.h"

namespace ringside {

TransportUse TransportOf(const RunSpec& spec, int hosts) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || entry->transport == nullptr) return {};
  return entry->transport(spec.options, spec.workers, hosts);
}

std::optional<OneHostNeed> OneHostNeedOf(const RunSpec& spec) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || entry->needs_one_host == nullptr) return std::nullopt;
  return entry->needs_one_host(spec.options);
}

std::int64_t StepsPerSum(const RunSpec& spec) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || entry->steps_per_sum == nullptr) return 1;
  return std::max<std::int64_t>(entry->steps_per_sum(spec.options), 1);
}

bool AreComparableTransports(const TransportUse& a, const TransportUse& b) {
  return a.name.empty() || b.name.empty() || a.medium_name() == b.medium_name();
}

}  // namespace ringside
