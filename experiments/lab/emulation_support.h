#ifndef RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_
#define RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_

#include <string>

#include "ringside/experiments/network/network_spec.h"
#include "ringside/experiments/system/net_namespace.h"

namespace ringside {

/// Runs `ip` of iproute2 in one process for all lines of a script. `RunTc` does the same with `tc`.
/// Both throw `MissingBackendError` with the program's output when the program is missing, refuses
/// a line or does not end.
void RunIp(const NetNamespace& where, const std::string& script);
void RunTc(const NetNamespace& where, const std::string& script);

/// What this machine can emulate. A text is empty if it can. Otherwise it says why not and what to
/// do.
struct LabSupport {
  std::string hosts;   ///< Network namespaces, iproute2.
  std::string rates;   ///< The token bucket `tbf`.
  std::string delays;  ///< `netem`: latency, jitter, loss.
};
/// Finds out by trying, in a temporary namespace. Without root, this process first moves into a
/// user namespace, if the kernel permits it. `RequireLab` does the same.
LabSupport ProbeLab();

/// The reason why this machine cannot emulate a network; empty when it can.
std::string WhyNoLab(const NetworkSpec& spec);
/// Throws `MissingBackendError` with that reason.
void RequireLab(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_EMULATION_SUPPORT_H_
