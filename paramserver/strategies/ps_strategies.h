#ifndef RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_
#define RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_

#include <vector>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/consistency_entry.h"
#include "ringside/paramserver/transports/transport_table.h"

namespace ringside {

/// Makes the strategy whose servers use this consistency, over one of these transports. Both are
/// copied. All strategies of a program must have the same transports.
StrategyEntry ServerStrategyEntry(const ConsistencyEntry& consistency,
                                  const TransportTable& transports = {});

/// All strategies of this family: one for each entry of `ConsistencyTable`.
std::vector<StrategyEntry> ServerStrategies(const TransportTable& transports = {});

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_STRATEGIES_PS_STRATEGIES_H_
