#ifndef RINGSIDE_RING_TRANSPORTS_GLOO_LINKS_H_
#define RINGSIDE_RING_TRANSPORTS_GLOO_LINKS_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/core/store.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/algorithms/links.h"
#include "ringside/ring/core/collective.h"

namespace ringside {

struct GlooLinksOptions {
  const World& world;
  Store& store;  ///< Used only during construction.
  const CommOptions& comm;
  std::string prefix;            ///< Prefix of the keys in the store: new for each set of links.
  std::vector<int> peers;        ///< Ranks to connect to; mutual. May repeat.
  std::span<const int> workers;  ///< Which worker of the job each rank is: for errors.
};

/// Links that count the bytes of messages sent and received.
class CountingLinks : public Links {
 public:
  virtual const Traffic& traffic() const = 0;
  /// Where each rank listened at the start: "10.0.0.1:4711".
  virtual std::span<const std::string> endpoints() const = 0;
};

/// Connects over Gloo's TCP transport: Gloo frames and times out. Connecting is ours
/// (peer_connections.h). Every rank listens at the address of `CommOptions`. Both ends first prove
/// that they know the members' token. The connection is not encrypted.
///
/// Pairs are in Gloo's synchronous mode: the calling thread reads and writes the sockets itself. So
/// no message waits for a second thread to wake. The next call on a connection notices that the
/// peer has gone. A silent peer is noticed after `CommOptions.timeout`.
///
/// The caller blocks SIGPIPE (`SigpipeGuard`), now and whenever it uses the links. Destruction
/// closes the connections; what was sent before still arrives. The links own all they use.
///
/// Collective. Throws `CommError` naming the first peer that is missing or not of this job.
std::unique_ptr<CountingLinks> ConnectGloo(const GlooLinksOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_GLOO_LINKS_H_
