#ifndef RINGSIDE_EXPERIMENTS_SPEC_AVAILABILITY_H_
#define RINGSIDE_EXPERIMENTS_SPEC_AVAILABILITY_H_

#include <string>

#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// Why this machine cannot run the strategy, and what to do about it. Empty when it can.
std::string WhyUnavailable(const StrategyEntry& entry);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_AVAILABILITY_H_
