#ifndef RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_JSON_H_
#define RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ringside/experiments/job/fidelity/judge_fidelity.h"

namespace ringside {

/// The object `fidelity` of summary.json (docs/run-bundle.md).
nlohmann::json FidelityJson(const Fidelity& fidelity);

/// The object of a run whose network was never built.
nlohmann::json UnjudgedFidelity(const std::string& reason);

/// The same object for a run whose links were not all as asked: one more limit. Of a network that
/// was not the one asked for nothing is known. Null stays null.
nlohmann::json LimitedByLinks(nlohmann::json fidelity);

/// The same object for a run whose hosts must be connected, when nobody has seen a connection. So
/// nobody knows which congestion control was in force. A limited run stays limited.
nlohmann::json WithoutConnections(nlohmann::json fidelity);

/// Such an object for people: "fidelity: ok", "fidelity: limited by the processor: 4 % idle ...",
/// "fidelity: not judged: ...". Empty for null, which stands for a run on no emulated network.
std::string FidelityText(const nlohmann::json& fidelity);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_JSON_H_
