#ifndef RINGSIDE_PARAMSERVER_TCP_SOCKET_H_
#define RINGSIDE_PARAMSERVER_TCP_SOCKET_H_

#include <cstddef>
#include <string>

#include "common/deadline.h"

namespace ringside {

/// A non-blocking socket, connected to "127.0.0.1:4711" or "[::1]:4711"; the caller closes it. The
/// server is known to listen, so a refused connection is tried again. Throws `CommError`.
int ConnectTcp(const std::string& endpoint, const Deadline& deadline);

/// At most so many bytes that TCP has not sent yet wait in the kernel: what is behind them is still
/// the caller's to order. Does nothing where the kernel can't.
void LimitUnsent(int file, std::size_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TCP_SOCKET_H_
