#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_LINK_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_LINK_H_

#include <memory>

#include "ringside/paramserver/transports/server_link.h"

namespace ringside {

/// Connects over shared memory: the server maps the worker's flat vectors, sums straight from the
/// gradients and writes new parameters in place. Small packets over a Unix domain socket say which
/// floats. The end of the socket tells at once that the other side has gone.
///
/// One thread of each link receives the answers. `Sent` is called at once, as nothing queues up.
/// Spans outside the worker's space travel through memory made for the call. Destruction waits
/// until the server no longer uses the vectors.
///
/// Moves `space` into shared memory, at its address. Throws `MissingBackendError` when there is too
/// little shared memory.
std::unique_ptr<ServerLink> ConnectShm(int server, const ServerAddress& address,
                                       const ServerSendLimits& limits, FlatSpace& space,
                                       const CommOptions& comm);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_LINK_H_
