#ifndef RINGSIDE_PARAMSERVER_PS_STRATEGIES_H_
#define RINGSIDE_PARAMSERVER_PS_STRATEGIES_H_

#include "common/strategy_entry.h"

namespace ringside {

extern const StrategyEntry kPsSyncEntry;
extern const StrategyEntry kPsAsyncEntry;
extern const StrategyEntry kPsSspEntry;
extern const StrategyEntry kPsBackupEntry;
extern const StrategyEntry kMixedEntry;

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PS_STRATEGIES_H_
