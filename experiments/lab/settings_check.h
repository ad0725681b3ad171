#ifndef RINGSIDE_EXPERIMENTS_LAB_SETTINGS_CHECK_H_
#define RINGSIDE_EXPERIMENTS_LAB_SETTINGS_CHECK_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ringside/experiments/lab/node_settings.h"
#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {

/// Reads everything back that was set in a namespace. Throws `MissingBackendError`, which names the
/// node and the setting, when the kernel has another value. Reads, changes nothing.
void CheckSettings(const NetNamespace& where, const NodeSettings& node);

/// The part of it for what delays, loses and shapes the packets of one port. `disciplines` is the
/// answer of `tc -json qdisc show dev DEVICE`. Pure.
void CheckDisciplines(const std::string& node_name, const PortSettings& port,
                      const nlohmann::json& disciplines);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_SETTINGS_CHECK_H_
