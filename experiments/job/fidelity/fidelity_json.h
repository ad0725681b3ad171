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

/// The same object beside what was found of the network: `network` is network.json, null if the
/// network was not built. Links that were not as asked are one more limit, because of another
/// network than the one asked for nothing is known. Where the hosts must be connected and nobody
/// has seen a connection, nobody knows which congestion control was in force; so the run is not
/// judged, unless it is limited. Null stays null.
nlohmann::json WithNetwork(nlohmann::json fidelity, const nlohmann::json& network,
                           bool hosts_must_connect);

/// Such an object for people: "fidelity: ok", "fidelity: limited by the processor: 4 % idle ...",
/// "fidelity: not judged: ...". Empty for null, which stands for a run on no emulated network.
std::string FidelityText(const nlohmann::json& fidelity);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_FIDELITY_JSON_H_
