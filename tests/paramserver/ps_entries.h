#ifndef RINGSIDE_TESTS_PARAMSERVER_PS_ENTRIES_H_
#define RINGSIDE_TESTS_PARAMSERVER_PS_ENTRIES_H_

#include <algorithm>
#include <string_view>

#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/paramserver/strategies/ps_strategies.h"
#include "ringside/paramserver/transports/transport_table.h"

namespace ringside {

inline StrategyEntry ServerStrategyNamed(std::string_view name) {
  const std::vector<StrategyEntry> strategies = ServerStrategies();
  return *std::ranges::find(strategies, name, &StrategyEntry::name);
}

inline const StrategyEntry kPsSyncEntry = ServerStrategyNamed("ps-sync");
inline const StrategyEntry kMixedEntry = ServerStrategyNamed("mixed");
inline const StrategyEntry kPsBackupEntry = ServerStrategyNamed("ps-backup");
inline const StrategyEntry kPsSspEntry = ServerStrategyNamed("ps-ssp");
inline const StrategyEntry kPsAsyncEntry = ServerStrategyNamed("ps-async");

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_PS_ENTRIES_H_
