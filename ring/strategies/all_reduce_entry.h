#ifndef RINGSIDE_RING_STRATEGIES_ALL_REDUCE_ENTRY_H_
#define RINGSIDE_RING_STRATEGIES_ALL_REDUCE_ENTRY_H_

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// Returns the strategy that sums gradients with this collective and then updates parameters on
/// every worker (`AllReduceStrategy`), or in its own way (`CollectiveEntry::make_strategy`). Copies
/// the entry.
StrategyEntry AllReduceEntry(const CollectiveEntry& collective);

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_ALL_REDUCE_ENTRY_H_
