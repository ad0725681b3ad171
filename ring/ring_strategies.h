#ifndef RINGSIDE_RING_RING_STRATEGIES_H_
#define RINGSIDE_RING_RING_STRATEGIES_H_

#include "common/strategy_entry.h"

namespace ringside {

extern const StrategyEntry kRingEntry;
extern const StrategyEntry kHalvingDoublingEntry;
extern const StrategyEntry kRecursiveDoublingEntry;
extern const StrategyEntry kTreeEntry;
extern const StrategyEntry kAutoEntry;
extern const StrategyEntry kLocalSgdEntry;
extern const StrategyEntry kDilocoEntry;
extern const StrategyEntry kMpiEntry;
extern const StrategyEntry kNcclEntry;
extern const StrategyEntry kShmEntry;
extern const StrategyEntry kHierarchicalEntry;

}  // namespace ringside

#endif  // RINGSIDE_RING_RING_STRATEGIES_H_
