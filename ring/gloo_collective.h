#ifndef RINGSIDE_RING_GLOO_COLLECTIVE_H_
#define RINGSIDE_RING_GLOO_COLLECTIVE_H_

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/errors.h"
#include "common/store.h"
#include "common/strategy_entry.h"
#include "common/world.h"
#include "ring/encoding_collective.h"
#include "ring/gloo_links.h"
#include "ring/link_algorithm.h"

namespace ringside {

/// Sums over Gloo's TCP transport with one of our own algorithms, pinned by the caller. A world of
/// one opens no sockets.
///
/// Errors: one rank that is gone breaks the whole ring, and most ranks see a neighbour leave that
/// has itself only given up. So a rank that fails writes into the store whom it missed, then closes
/// its connections, then follows these notes to the one rank that wrote none: the culprit.
class GlooCollective : public EncodingCollective {
 public:
  /// Collective; rendezvous under `prefix`, which is new for each collective of a job. Borrows
  /// `store`. Connects for all of `algorithms` (at least one) and sums with the first.
  GlooCollective(const World& world, Store& store, const CommOptions& comm,
                 std::span<const RingAlgorithm> algorithms, std::string prefix);
  GlooCollective(const World& world, Store& store, const CommOptions& comm, RingAlgorithm algorithm,
                 std::string prefix)
      : GlooCollective(world, store, comm, std::span(&algorithm, 1), std::move(prefix)) {}

  /// Sums with this one of the algorithms that it was made for from now on, on every rank.
  void Use(RingAlgorithm algorithm) { algorithm_ = &AlgorithmOf(algorithm); }
  int workers() const { return world_.workers; }

  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void AllReduceEncoded(std::span<float> data, Codec& codec, const CodecPlace& place,
                        const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  Traffic traffic() const override { return traffic_; }

 private:
  /// `steps` over the links, with the errors of this class; nothing in a world of one.
  void Run(const std::string& operation, const std::function<void(Links&)>& steps);

  [[noreturn]] void Fail(const std::string& operation, const CommError& seen);

  World world_;
  Store& store_;
  const LinkAlgorithm* algorithm_;
  std::string prefix_;
  std::unique_ptr<GlooLinks> links_;  // null in a world of one, and after a failure
  std::vector<std::byte> scratch_;
  std::vector<float> wire_;  // of encoded sums
  std::exception_ptr failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_GLOO_COLLECTIVE_H_
