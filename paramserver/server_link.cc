#include "paramserver/server_link.h"

#include "paramserver/grpc_link.h"

namespace ringside {

std::unique_ptr<ServerLink> ConnectToServer(int server, const ServerAddress& address, FlatSpace&,
                                            const CommOptions& comm) {
  if (!address.host.empty() && address.host != HostIdentity()) {
    throw ConfigError("server " + std::to_string(server) +
                      " is on another host: --ps-transport uds and shm need workers and servers on "
                      "one host; use grpc");
  }
  return std::make_unique<GrpcLink>(server, address, comm);
}

}  // namespace ringside
