#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/spec_keys.h"

namespace ringside {

/// A key's value as a condition in a sentence, such as "at 1 Gbit/s in 2 racks with uplinks of
/// 4 Gbit/s", "30 ms of compute", "worker 0 slowed 20 times", "32 samples a worker". Different
/// values have different texts. Pure.
std::string ConditionText(const SpecKey& key, const RunSpec& spec);

/// Conditions as they follow a noun such as "4 workers": " at 100 Mbit/s, 30 ms of compute". The
/// rate of links comes first. Empty without conditions. Pure.
std::string AfterNoun(std::vector<std::string> conditions);

/// The title of a column with a key's values: "compute" for "compute_ms". Pure.
std::string KeyTitle(std::string_view json_name);

/// A condition as a value below the key's title: "100 Mbit/s" for "at 100 Mbit/s", "mlp" for
/// "model mlp". Pure.
std::string ValueText(std::string_view json_name, const std::string& condition);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_CONDITION_TEXT_H_
