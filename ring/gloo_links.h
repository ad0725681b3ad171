#ifndef RINGSIDE_RING_GLOO_LINKS_H_
#define RINGSIDE_RING_GLOO_LINKS_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/store.h"
#include "common/strategy_entry.h"
#include "common/world.h"
#include "ring/collective.h"
#include "ring/links.h"

namespace ringside {

struct GlooLinksOptions {
  const World& world;
  Store& store;  ///< Used during construction alone.
  const CommOptions& comm;
  std::string prefix;      ///< Of the keys in the store: new for each set of links of a job.
  std::vector<int> peers;  ///< Whom this rank connects to; mutual. May repeat.
};

/// Links over Gloo's TCP transport: Gloo listens, connects, frames and times out. Every connection
/// is bound to the address of `CommOptions`; both ends prove that they know the job's token before
/// anything else is said. The connection is not encrypted.
///
/// Pairs are in Gloo's synchronous mode: the calling thread reads and writes the sockets itself, so
/// no message waits for a second thread to wake. A peer that is gone is noticed by the next call on
/// its connection, a silent one after `CommOptions.timeout`.
///
/// The caller sees to SIGPIPE (`SigpipeGuard`). Destruction closes the connections; what was sent
/// before arrives.
class GlooLinks : public Links {
 public:
  /// Collective. Throws `CommError` naming the first peer that is missing or not of this job.
  explicit GlooLinks(const GlooLinksOptions& options);
  ~GlooLinks() override;

  std::size_t window_bytes() const override { return window_bytes_; }
  void Send(int peer, std::span<const std::byte> data) override;
  void Receive(int peer, std::span<std::byte> data) override;
  const Traffic& traffic() const { return traffic_; }

 private:
  class Transport;
  void Authenticate(const GlooLinksOptions& options, std::span<const int> peers);

  std::size_t window_bytes_;
  std::unique_ptr<Transport> transport_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_GLOO_LINKS_H_
