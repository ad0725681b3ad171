#include "ringside/experiments/spec/server_layout.h"

#include "ringside/experiments/spec/catalog.h"

namespace ringside {

ServerLayout LayoutServers(const StrategyEntry& entry, int workers, int servers, bool colocated) {
  if (!entry.traits.has_servers()) return {};
  if (entry.traits.servers == ServerPlacement::kEveryWorker) {
    return {.dedicated = servers, .colocated = servers < workers ? workers : 0};
  }
  if (colocated) return {.colocated = servers};
  return {.dedicated = servers};
}

ServerLayout LayoutServers(const RunSpec& spec) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr) return {};
  return LayoutServers(*entry, spec.workers, spec.servers, spec.colocated);
}

}  // namespace ringside
