#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LISTENER_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LISTENER_H_

#include <memory>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/listener.h"

namespace ringside {

/// Serves by gRPC over TCP, on `context.comm.address` at a port that the kernel chooses. Calls run
/// on gRPC's threads. With `context.comm.tls`, workers must show a certificate; throws
/// `ConfigError` when the files cannot be used.
std::unique_ptr<Listener> ListenGrpcOverTcp(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table);
/// The same over an abstract Unix domain socket.
std::unique_ptr<Listener> ListenGrpcOverUds(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_LISTENER_H_
