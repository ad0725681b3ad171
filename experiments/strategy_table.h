#ifndef RINGSIDE_EXPERIMENTS_STRATEGY_TABLE_H_
#define RINGSIDE_EXPERIMENTS_STRATEGY_TABLE_H_

#include <span>
#include <string>
#include <string_view>

#include "common/strategy_entry.h"

namespace ringside {

/// All strategies of this build, in the order in which help and reports list them.
std::span<const StrategyEntry* const> StrategyTable();
/// Null when there is none of that name.
const StrategyEntry* FindStrategy(std::string_view name);

/// Why this machine cannot run it, and what to do; empty: it can.
std::string WhyUnavailable(const StrategyEntry& entry);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STRATEGY_TABLE_H_
