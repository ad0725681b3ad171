#include "ringside/experiments/job/summary/dilation_record.h"

#include <nlohmann/json.hpp>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/run_dilation.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

using nlohmann::json;

json Scaled() {
  return {"rates of links", "latencies", "emulated compute",
          "TCP's least time before it sends again", "timeouts and leases"};
}

json NotScaled() {
  return {
      "processor time: what a host computes takes its real time, so it appears divided by the "
      "factor",
      "a host's own round trip: it appears divided by the factor",
      "time constants of TCP's congestion control",
      "TCP's first wait for the answer to a new connection"};
}

}  // namespace

json DilationRecord(const RunSpec& spec, const DilationFacts& facts) {
  if (!spec.network) return {};
  const std::size_t hosts =
      PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts)
          .hosts.size();
  return {{"factor", facts.factor},
          {"asked", DilationText(spec.dilation)},
          {"needed", NeededDilationOf(spec, facts.cores)},
          {"cores", facts.cores},
          {"hosts", hosts},
          {"equivalent_cores_per_host", facts.factor * facts.cores / static_cast<double>(hosts)},
          {"wall_step_ms", facts.step_ms ? json(*facts.step_ms * facts.factor) : json()},
          {"scaled", facts.factor == 1 ? json::array() : Scaled()},
          {"not_scaled", facts.factor == 1 ? json::array() : NotScaled()}};
}

}  // namespace ringside
