#ifndef RINGSIDE_EXPERIMENTS_TRANSPORT_H_
#define RINGSIDE_EXPERIMENTS_TRANSPORT_H_

#include <string>
#include <string_view>

#include "experiments/run_spec.h"

namespace ringside {

/// How the bytes of a run's strategy travel between workers on so many hosts: what its spec chose
/// for servers ("grpc", "uds", "shm"), what a ring's collective uses ("tcp", "shm", "shm+tcp",
/// "mpi" and so on). Empty: nothing travels, or no strategy of this build has that name. Pure.
std::string TransportOf(const RunSpec& spec, int hosts);

/// Whether its servers are reached through memory or a Unix domain socket: no link carries that.
bool ServersNeedOneHost(const RunSpec& spec);

/// Whether times over the two tell of strategies alone: gRPC is TCP like Gloo's. What is unknown
/// differs from nothing.
bool AlikeTransports(std::string_view a, std::string_view b);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TRANSPORT_H_
