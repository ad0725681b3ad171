#ifndef RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_
#define RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_

#include <string>
#include <vector>

#include "ringside/experiments/network/network_spec.h"

namespace ringside {

/// What this machine can emulate. A text is empty if it can. Otherwise it says why not and what to
/// do.
struct LabSupport {
  std::string hosts;   ///< Network namespaces, iproute2, the list of TCP connections.
  std::string rates;   ///< The token bucket `tbf`.
  std::string delays;  ///< `netem`: latency, jitter, loss.
  /// Not a text but the congestion controls that connections of emulated hosts can have, sorted.
  std::vector<std::string> congestion_controls{};
};
/// Finds out by trying, in a temporary namespace. Without root, this process first moves into a
/// user namespace, if the kernel permits it. `WhyNoLab` does the same.
LabSupport ProbeLab();

/// The reason why this machine cannot emulate a network; empty when it can.
std::string WhyNoLab(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_
