#ifndef RINGSIDE_EXPERIMENTS_OPTION_CHECKS_H_
#define RINGSIDE_EXPERIMENTS_OPTION_CHECKS_H_

#include "common/strategy_entry.h"
#include "experiments/run_spec.h"

namespace ringside {

/// Whether the strategy takes the values of `StrategyOptions` that the spec sets. A value that it
/// would not read was meant for another. Throws `SpecKeyError`, `MissingBackendError`.
void CheckOptions(const RunSpec& spec, const StrategyEntry& strategy);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_OPTION_CHECKS_H_
