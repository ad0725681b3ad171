#include "ringside/experiments/spec/resolve/availability.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "ringside/experiments/spec/resolve/option_checks.h"
#include "ringside/experiments/spec/resolve/refusals.h"
#include "ringside/experiments/system/files/find_program.h"

namespace ringside {
namespace {

/// Whether this process is a rank already, or a child of one.
bool StartedByMpirun() { return std::getenv("PMIX_NAMESPACE") != nullptr; }

}  // namespace

std::string WhyUnavailable(const StrategyEntry& entry) {
  if (entry.unavailable != nullptr) {
    std::string reason = entry.unavailable();
    if (!reason.empty()) return reason;
  }
  if (entry.traits.ranks == Ranks::kMpiProcesses && !StartedByMpirun() &&
      FindProgram("mpirun").empty()) {
    return "mpirun, which has to start its workers, is not in PATH; install openmpi-bin";
  }
  return {};
}

void RequireStrategy(const RunSpec& spec) {
  const StrategyEntry& strategy = StrategyOf(spec);
  RequireOptions(spec, strategy);
  const std::string reason = WhyUnavailable(strategy);
  if (reason.empty()) return;
  throw MissingKeyError("strategy",
                        fmt::format("strategy '{}' cannot run here: {}", strategy.name, reason));
}

void RequireDevice(const RunSpec& spec) {
  const ModelEntry& model = ModelOf(spec);
  const std::string reason = model.unavailable ? model.unavailable() : "";
  if (reason.empty()) return;
  throw MissingKeyError("model", fmt::format("model '{}' cannot run here: {}", spec.model, reason));
}

}  // namespace ringside
