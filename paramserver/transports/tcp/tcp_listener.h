#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LISTENER_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LISTENER_H_

#include <memory>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/listener.h"

namespace ringside {

/// Listens for workers over TCP (`ConnectTcpLink`), on a port that the kernel chooses. Each
/// connection has two threads. Nothing of a request is used before the worker has proved that it
/// knows the members' token.
std::unique_ptr<Listener> ListenTcp(const TransportEntry& self, const ServerContext& context,
                                    ShardTable& table);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TCP_TCP_LISTENER_H_
