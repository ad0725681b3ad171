#include "ringside/ring/strategies/ring_strategies.h"

#include <algorithm>
#include <iterator>

#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/strategies/all_reduce_entry.h"

namespace ringside {

std::vector<StrategyEntry> RingStrategies() {
  std::vector<StrategyEntry> strategies;
  for (const CollectiveEntry& collective : CollectiveTable()) {
    strategies.push_back(AllReduceEntry(collective));
  }
  std::ranges::move(PeriodicStrategies(), std::back_inserter(strategies));
  return strategies;
}

}  // namespace ringside
