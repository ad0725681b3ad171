#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_TCP_CONNECTIONS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_TCP_CONNECTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/network/net_namespace.h"

namespace ringside {

/// One end of an established TCP connection, as the kernel knows it.
struct TcpConnectionEnd {
  std::string local_address;  ///< IPv4 addresses are written as such, also those of IPv6 sockets.
  std::string remote_address;
  std::uint16_t local_port = 0;
  std::uint16_t remote_port = 0;
  std::string congestion_control;  ///< The one that the socket uses, such as "cubic".
  std::uint64_t retransmitted_segments = 0;
};

/// Asks the kernel for the TCP connections of one network namespace (`NETLINK_SOCK_DIAG`). It lists
/// the sockets of all processes there. Not thread-safe.
class TcpConnections {
 public:
  /// Throws `MissingBackendError` when the kernel does not answer such questions.
  explicit TcpConnections(const NetNamespace& where);

  /// All ends of established connections in the namespace, also those of loopback. Throws
  /// `MissingBackendError` when the kernel refuses to list them.
  std::vector<TcpConnectionEnd> List() const;

 private:
  FileDescriptor socket_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_NETWORK_TCP_CONNECTIONS_H_
