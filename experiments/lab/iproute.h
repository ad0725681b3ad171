#ifndef RINGSIDE_EXPERIMENTS_LAB_IPROUTE_H_
#define RINGSIDE_EXPERIMENTS_LAB_IPROUTE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {

/// Runs `ip` of iproute2 in one process for all lines of a script. `RunTc` does the same with `tc`.
/// All functions of this file throw `MissingBackendError` with the program's output when the
/// program is missing, refuses a line or does not end, and `KilledProgramError` when a signal ends
/// it.
void RunIp(const NetNamespace& where, const std::string& script);
void RunTc(const NetNamespace& where, const std::string& script);

/// Returns what `ip -json -details` answers: one value for each line of the script, in its order.
/// Also throws when the answers are no JSON or fewer than the lines.
std::vector<nlohmann::json> AskIp(const NetNamespace& where, const std::string& script);
/// The same with `tc -json`. It asks for no details, because tc then writes a burst as an object.
std::vector<nlohmann::json> AskTc(const NetNamespace& where, const std::string& script);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_IPROUTE_H_
