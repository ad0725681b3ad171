#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_TCP_SOCKET_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_TCP_SOCKET_H_

#include <cstddef>
#include <string>

#include "ringside/common/core/deadline.h"

namespace ringside {

/// Connects a non-blocking socket to "127.0.0.1:4711" or "[::1]:4711". The caller closes it. The
/// server is known to listen, so a refused connection is tried again. Throws `CommError`.
int ConnectTcp(const std::string& endpoint, const Deadline& deadline);

/// Limits the bytes that wait in the kernel until TCP sends them. The caller can still choose the
/// order of later bytes. Does nothing if the kernel cannot do this.
void LimitUnsent(int file, std::size_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SOCKETS_TCP_SOCKET_H_
