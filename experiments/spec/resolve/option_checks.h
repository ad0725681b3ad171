#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_OPTION_CHECKS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_OPTION_CHECKS_H_

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Checks that the strategy takes every strategy option that the spec sets. An option that it does
/// not read is a mistake of the user. Throws `SpecKeyError`.
void CheckOptions(const RunSpec& spec, const StrategyEntry& strategy);
/// Throws `MissingBackendError` for an option that is right, but that this machine or build cannot
/// follow.
void RequireOptions(const RunSpec& spec, const StrategyEntry& strategy);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_OPTION_CHECKS_H_
