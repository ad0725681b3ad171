#ifndef RINGSIDE_RING_STRATEGIES_RING_STRATEGIES_H_
#define RINGSIDE_RING_STRATEGIES_RING_STRATEGIES_H_

#include <vector>

#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// The strategies of this family whose workers step alone and synchronise every few steps. No
/// collective has the same name.
std::vector<StrategyEntry> PeriodicStrategies();

/// All strategies of this family: one for each entry of `CollectiveTable`, then the periodic ones.
std::vector<StrategyEntry> RingStrategies();

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_RING_STRATEGIES_H_
