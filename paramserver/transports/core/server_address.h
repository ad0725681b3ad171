#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ADDRESS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ADDRESS_H_

#include <string>

namespace ringside {

struct TransportEntry;

/// Where a server listens, as written in the store.
struct ServerAddress {
  const TransportEntry* transport = nullptr;  ///< An entry of the table; not null.
  std::string address;  ///< "127.0.0.1:4711", or the name of an abstract Unix domain socket.
  std::string host{};   ///< `HostIdentity()` of the server, if both must be on one host.

  /// "grpc 127.0.0.1:4711", "uds NAME HOST", "shm NAME HOST".
  std::string ToText() const;
  /// Whether it is reached without leaving the host.
  bool IsHere() const;
  /// "at 127.0.0.1:4711", "over uds": for people.
  std::string DisplayText() const;
};

/// Makes an address on this host that cannot be guessed. Its name is abstract, so nothing is left
/// behind, however the server ends.
ServerAddress LocalAddress(const TransportEntry& transport);

/// Identifies the machine and the network namespace. Abstract sockets reach no further.
std::string HostIdentity();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_ADDRESS_H_
