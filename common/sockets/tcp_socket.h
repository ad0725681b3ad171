#ifndef RINGSIDE_COMMON_SOCKETS_TCP_SOCKET_H_
#define RINGSIDE_COMMON_SOCKETS_TCP_SOCKET_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// "127.0.0.1:4711", "[::1]:4711".
std::string Endpoint(const std::string& address, int port);

/// What `ConnectTcp` does if nobody listens.
enum class IfRefused { kTryAgain, kThrow };
/// The peer of an error for which nobody else is to blame.
inline constexpr char kThisProcess[] = "this process";

/// Connects a non-blocking socket to "127.0.0.1:4711" or "[::1]:4711". The caller closes it. Throws
/// `CommError` that names the endpoint, or `kThisProcess` if it can have no further socket.
int ConnectTcp(const std::string& endpoint, const Deadline& deadline,
               IfRefused if_refused = IfRefused::kTryAgain);

/// Begins to connect, and does not wait: the socket becomes writable when it is connected or has
/// failed. Empty if it fails at once or can have no socket; then `error` has the reason, an errno
/// value.
FileDescriptor BeginConnectTcp(const std::string& endpoint, int& error);
/// How an attempt to connect has ended: 0 or an errno value.
int ConnectErrorOf(int file);

/// Listens on a port of an IP address; 0: on a free one. `accept` does not wait. Throws
/// `CommError`.
FileDescriptor ListenOnTcp(const std::string& address, int port = 0);

/// The `Endpoint` of a socket's own end. Throws `CommError`.
std::string TcpEndpointOf(int file);
/// Whether both ends of a connection have the same IP address. False if it has ended.
bool IsWithinHost(int file);

/// Small messages leave at once.
void SetNoDelay(int file);
/// The kernel asks an idle connection every few seconds whether its other end is still there. It
/// ends the connection after some 40 s without an answer. Heartbeats find a lost host earlier; this
/// is for what is left of a connection when nobody uses it.
void SetKeepAlive(int file);
/// Calls on the socket wait. Throws `CommError`.
void SetBlocking(int file);

/// Both return false when the other side has closed, and at the deadline.
bool SendAll(int file, std::span<const std::byte> bytes, const Deadline& deadline);
bool ReceiveAll(int file, std::span<std::byte> bytes, const Deadline& deadline);

/// Limits the bytes that wait in the kernel until TCP sends them. The caller can still choose the
/// order of later bytes. Does nothing if the kernel cannot do this.
void LimitUnsent(int file, std::size_t bytes);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_SOCKETS_TCP_SOCKET_H_
