#include "ringside/ring/strategies/ring_strategies.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/strategies/all_reduce_entry.h"
#include "ringside/ring/strategies/shm_strategy.h"

namespace ringside {
namespace {

/// Shared memory needs no communication thread: the strategy sums and updates in place.
StrategyEntry ShmEntry(const CollectiveEntry& collective) {
  StrategyEntry entry = AllReduceEntry(collective);
  entry.make = [](const StrategyContext& context) -> std::unique_ptr<Strategy> {
    return std::make_unique<ShmStrategy>(context);
  };
  entry.check = {};
  return entry;
}

}  // namespace

std::vector<StrategyEntry> RingStrategies() {
  std::vector<StrategyEntry> strategies;
  for (const CollectiveEntry& collective : CollectiveTable()) {
    const bool shares_memory = collective.topology == Topology::kSharedMemory;
    strategies.push_back(shares_memory ? ShmEntry(collective) : AllReduceEntry(collective));
  }
  std::ranges::move(PeriodicStrategies(), std::back_inserter(strategies));
  return strategies;
}

}  // namespace ringside
