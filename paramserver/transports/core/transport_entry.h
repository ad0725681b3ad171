#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_TRANSPORT_ENTRY_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_TRANSPORT_ENTRY_H_

#include <memory>
#include <string_view>

#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/listener.h"
#include "ringside/paramserver/transports/core/server_address.h"
#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {

/// An entry of the table of transports: all that the rest of the program knows of a transport
/// between workers and servers. Entries are constants that live as long as the program; addresses
/// point at them.
struct TransportEntry {
  std::string_view name;  ///< A value of `ps-transport`.
  /// How its bytes travel: "tcp", "http2", "uds", "shm". Times over transports of one medium may be
  /// compared.
  std::string_view medium;
  std::string_view remark = {};  ///< Stands behind the name in help: "HTTP/2".
  /// Workers and servers must be on one host.
  bool needs_one_host = false;
  /// Servers read gradients in place, so a codec would make nothing shorter.
  bool shares_memory = false;
  /// Encrypts, and lets certificates prove who both sides are, if `CommOptions::tls` is set.
  bool takes_tls = false;

  /// Both borrow their arguments and what those borrow. `self` is this entry. Throw `CommError`
  /// when the address cannot be reached, or listened on.
  std::unique_ptr<ServerLink> (*connect)(int server, const ServerAddress& address,
                                         const LinkSetup& setup, FlatSpace& space,
                                         const CommOptions& comm) = nullptr;
  std::unique_ptr<Listener> (*listen)(const TransportEntry& self, const ServerContext& context,
                                      ShardTable& table) = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_TRANSPORT_ENTRY_H_
