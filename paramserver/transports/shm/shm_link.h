#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LINK_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LINK_H_

#include <memory>

#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {

/// Connects over shared memory. The server maps the worker's flat vectors, sums straight from the
/// gradients and writes new parameters in place. Small packets over a Unix domain socket say which
/// floats. When the other side goes, the end of the socket shows it immediately.
///
/// One thread of each link receives the answers. `Sent` is called immediately, because nothing
/// waits to be sent. Spans outside the worker's space go through memory that is made for the call.
/// Destruction waits until the server no longer uses the vectors.
///
/// Moves `space` into shared memory at the same address. Throws `MissingBackendError` when there is
/// too little shared memory.
std::unique_ptr<ServerLink> ConnectShm(int server, const ServerAddress& address,
                                       const LinkSetup& setup, FlatSpace& space,
                                       const CommOptions& comm);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SHM_SHM_LINK_H_
