#ifndef RINGSIDE_EXPERIMENTS_LAB_LAB_TOOLS_H_
#define RINGSIDE_EXPERIMENTS_LAB_LAB_TOOLS_H_

#include <string>

#include "experiments/lab/net_namespace.h"
#include "experiments/lab/network_spec.h"

namespace ringside {

/// iproute2, one process for all lines of a script. Throw `MissingBackendError` with what the
/// program said where it refuses one, is not there, or does not come to an end.
void RunIp(const NetNamespace& where, const std::string& script);
void RunTc(const NetNamespace& where, const std::string& script);

/// What this machine can emulate. Each text is empty, or says why not and what to do.
struct LabSupport {
  std::string hosts;   ///< Network namespaces, iproute2.
  std::string rates;   ///< The token bucket `tbf`.
  std::string delays;  ///< `netem`: latency, jitter, loss.
};
/// By trying, in a namespace that is gone afterwards; without root this process moves into a user
/// namespace first, where the kernel permits it, and so does `RequireLab`.
LabSupport ProbeLab();

/// Why this machine cannot emulate what a network needs; empty where it can.
std::string WhyNoLab(const NetworkSpec& spec);
/// Throws `MissingBackendError` with that reason.
void RequireLab(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_LAB_TOOLS_H_
