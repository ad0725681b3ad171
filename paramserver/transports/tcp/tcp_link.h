#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LINK_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LINK_H_

#include <memory>

#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {

/// Connects to a server that `ListenTcp` serves, with `setup.connections` connections. Each has a
/// thread that receives and one that sends. A reply goes from the kernel straight into the memory
/// of its call.
std::unique_ptr<ServerLink> ConnectTcpLink(int server, const ServerAddress& address,
                                           const LinkSetup& setup, FlatSpace& space,
                                           const CommOptions& comm);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LINK_H_
