#include "ringside/experiments/spec/availability.h"

#include <cstdlib>

#include "ringside/experiments/system/find_program.h"

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

}  // namespace ringside
