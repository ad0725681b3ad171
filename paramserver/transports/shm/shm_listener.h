#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LISTENER_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LISTENER_H_

#include <memory>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/listener.h"

namespace ringside {

/// Listens for workers over shared memory (`ConnectShm`). There is one thread per core. Each thread
/// takes the next packet of any worker, so several buckets are summed in parallel.
///
/// Before anything is mapped, the other side must be a process of the same user that knows the
/// token. Ranges are compared with the mapped memory before they are used.
std::unique_ptr<Listener> ListenShm(const TransportEntry& self, const ServerContext& context,
                                    ShardTable& table);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LISTENER_H_
