#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_NETWORK_PROTECTION_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_NETWORK_PROTECTION_H_

#include <string>

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Throws `ConfigError` when a process of the job may not listen on `address` or connect to it.
/// Loopback is always allowed. Another address needs certificates, and a strategy that encrypts
/// what it sends between hosts, or else `options.insecure_network`. Certificates must be usable in
/// any case.
void RequireProtectedNetwork(const RunSpec& spec, const JobOptions& options,
                             const std::string& address);

/// The same for a job that another machine will start: the certificates, which lie there, are not
/// looked at.
void RequireEncryption(const RunSpec& spec, const JobOptions& options, const std::string& address);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_NETWORK_PROTECTION_H_
