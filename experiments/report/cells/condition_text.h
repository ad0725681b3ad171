#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_

#include <string>

#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/spec_keys.h"

namespace ringside {

/// A key's value as a condition in a sentence, such as "links of 1 Gbit/s in 2 racks with uplinks
/// of 4 Gbit/s", "30 ms of compute", "worker 0 slowed 20 times", "batch-per-worker 32". Different
/// values have different texts. Pure.
std::string ConditionText(const SpecKey& key, const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_
