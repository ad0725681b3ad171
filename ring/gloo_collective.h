#ifndef RINGSIDE_RING_GLOO_COLLECTIVE_H_
#define RINGSIDE_RING_GLOO_COLLECTIVE_H_

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/errors.h"
#include "common/store.h"
#include "common/strategy_entry.h"
#include "common/world.h"
#include "ring/collective.h"
#include "ring/gloo_links.h"

namespace ringside {

enum class RingAlgorithm { kRing, kHalvingDoubling };

/// Sums over Gloo's TCP transport with the algorithm pinned: our own pipelined ring, or recursive
/// halving and doubling for any number of ranks. A world of one opens no sockets.
///
/// Errors: one rank that is gone breaks the whole ring, and most ranks see a neighbour leave that
/// has itself only given up. So a rank that fails writes into the store whom it missed, then closes
/// its connections, then follows these notes to the one rank that wrote none: the culprit.
class GlooCollective : public Collective {
 public:
  /// Collective; rendezvous under `prefix`, which is new for each collective of a job. Borrows
  /// `store`.
  GlooCollective(const World& world, Store& store, const CommOptions& comm, RingAlgorithm algorithm,
                 std::string prefix);

  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  Traffic traffic() const override { return traffic_; }

 private:
  void Run(const std::string& operation, const std::function<void(Links&)>& steps);
  [[noreturn]] void Fail(const std::string& operation, const CommError& seen);
  std::string FindCulprit(const std::string& seen) const;
  std::string SuspectKey(const std::string& reporter) const;

  World world_;
  Store& store_;
  RingAlgorithm algorithm_;
  std::string prefix_;
  std::unique_ptr<GlooLinks> links_;  // null in a world of one, and after a failure
  std::vector<std::byte> scratch_;
  std::exception_ptr failure_;
  Traffic traffic_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_GLOO_COLLECTIVE_H_
