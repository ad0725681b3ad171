#include "experiments/server_layout.h"

#include "experiments/strategy_table.h"

namespace ringside {

ServerLayout LayoutServers(const StrategyEntry& entry, int workers, int servers, bool colocated) {
  if (entry.make_server == nullptr) return {};
  if (entry.spare_servers) {
    return {.dedicated = servers, .colocated = servers < workers ? workers : 0};
  }
  if (colocated) return {.colocated = servers};
  return {.dedicated = servers};
}

ServerLayout LayoutServers(const RunSpec& spec) {
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  if (entry == nullptr) return {};
  return LayoutServers(*entry, spec.workers, spec.servers, spec.colocated);
}

}  // namespace ringside
