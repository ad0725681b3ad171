#ifndef RINGSIDE_RING_TRANSPORTS_PEER_CONNECTIONS_H_
#define RINGSIDE_RING_TRANSPORTS_PEER_CONNECTIONS_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/comm_options.h"

namespace ringside {

struct PeerConnectionsOptions {
  const World& world;
  Store& store;
  const CommOptions& comm;
  const std::string& prefix;   ///< Of the keys in the store: new for each set of connections.
  std::span<const int> peers;  ///< Ranks to connect to, each once; mutual.
  std::function<std::string(int rank)> name_of;  ///< What errors call a rank.
};

struct PeerConnections {
  std::map<int, FileDescriptor> sockets;  ///< By peer. They do not block yet.
  std::vector<std::string> endpoints;     ///< Where each rank listened while it connected.
};

/// Connects this rank to its peers over TCP. Every rank listens on one socket until it has all its
/// connections. Of two peers the higher rank connects. Both first prove that they know the job's
/// token; the token is not sent. A connection that proves nothing is closed, and keeps no peer out.
///
/// Collective. Borrows `options`. Throws `CommError` naming the first peer that is missing, or this
/// rank where this process has no room for a socket.
PeerConnections ConnectPeers(const PeerConnectionsOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_PEER_CONNECTIONS_H_
