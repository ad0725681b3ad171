#ifndef RINGSIDE_PARAMSERVER_SERVER_ADDRESS_H_
#define RINGSIDE_PARAMSERVER_SERVER_ADDRESS_H_

#include <string>

#include "common/strategy_options.h"

namespace ringside {

/// Where a server listens, as it stands in the store.
struct ServerAddress {
  PsTransport transport = PsTransport::kGrpc;
  std::string address;  ///< "127.0.0.1:4711", or the name of an abstract Unix domain socket.
  std::string host{};   ///< `HostIdentity()` of the server, where both must be on one host.

  /// "127.0.0.1:4711", "uds HOST NAME", "shm HOST NAME".
  std::string ToText() const;
  /// Throws `CommError` when it is none.
  static ServerAddress FromText(const std::string& text);
  /// Whether it is reached without leaving the host.
  bool IsHere() const;
  /// "at 127.0.0.1:4711", "over uds": for people.
  std::string Place() const;
};

/// An address on this host that nobody can guess: an abstract name leaves nothing behind, however
/// the server ends.
ServerAddress LocalAddress(PsTransport transport);

/// Differs between machines, and between network namespaces, which abstract sockets do not cross.
std::string HostIdentity();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_ADDRESS_H_
