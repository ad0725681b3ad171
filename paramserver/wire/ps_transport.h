#ifndef RINGSIDE_PARAMSERVER_WIRE_PS_TRANSPORT_H_
#define RINGSIDE_PARAMSERVER_WIRE_PS_TRANSPORT_H_

#include "ringside/common/strategy/option.h"

namespace ringside {

/// What carries bytes between a worker and a server.
enum class PsTransport {
  kGrpc,  ///< gRPC over TCP.
  kUds,   ///< gRPC over a Unix domain socket: server and worker on one host.
  kShm,   ///< Shared memory: server and worker on one host.
};

inline constexpr ChoiceOption<PsTransport, 3> kPsTransport{
    .name = "ps-transport",
    .placeholder = "NAME",
    .help = "between worker and server: grpc (TCP), or uds and shm on one host",
    .noun = "transport",
    .choices = {"grpc", "uds", "shm"},
    .default_value = PsTransport::kGrpc,
    .role = OptionRole::kTransport};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_PS_TRANSPORT_H_
