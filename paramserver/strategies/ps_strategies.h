#ifndef RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_
#define RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_

#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/consistency_entry.h"

namespace ringside {

/// Makes the strategy whose servers use this consistency. The entry is copied.
StrategyEntry ServerStrategyEntry(const ConsistencyEntry& consistency);

/// All strategies of this family: one for each entry of `ConsistencyTable`.
std::vector<StrategyEntry> ServerStrategies();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_
