#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LINK_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LINK_H_

#include <memory>

#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {

/// Connects by gRPC over TCP, or over a Unix domain socket. `CallObserver::Sent` is called when the
/// kernel has taken the payload.
///
/// With `comm.tls`, both sides over TCP show certificates. Then `setup.kernel_unsent` has no
/// effect, because gRPC opens the sockets. `ConnectGrpcOverTcp` throws `CertificateError` when one
/// side refuses the other.
///
/// The deadline of every call is a little later than the operation's timeout. So a server that
/// knows which worker is missing can say so first.
std::unique_ptr<ServerLink> ConnectGrpcOverTcp(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace& space,
                                               const CommOptions& comm);
std::unique_ptr<ServerLink> ConnectGrpcOverUds(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace& space,
                                               const CommOptions& comm);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LINK_H_
