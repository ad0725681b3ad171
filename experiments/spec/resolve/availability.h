#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_AVAILABILITY_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_AVAILABILITY_H_

#include <string>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Why this machine cannot run the strategy, and what to do about it. Empty when it can.
std::string WhyUnavailable(const StrategyEntry& entry);

/// These throw `MissingKeyError` when this machine lacks what a resolved spec needs: the backend of
/// its strategy, with its options, and the device that its model computes on. `Resolve` asks the
/// machine that starts a run, unless other hosts run it; each worker asks its own.
void RequireStrategy(const RunSpec& spec);
void RequireDevice(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_AVAILABILITY_H_
