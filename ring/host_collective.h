#ifndef RINGSIDE_RING_HOST_COLLECTIVE_H_
#define RINGSIDE_RING_HOST_COLLECTIVE_H_

#include <cstddef>
#include <span>
#include <string>

#include "ring/collective.h"

namespace ringside {

/// A collective among the workers of one host that can stop half-way, with every rank holding a
/// share of the sum: what a hierarchy stands on. It sums the shares over the hosts in between.
class HostCollective : public Collective {
 public:
  /// How many elements of `data` the two calls below take at a time; the same on every rank.
  virtual std::size_t PieceElements(std::span<const float> data) const = 0;
  /// Sums `piece` over all ranks and returns this rank's share of the sum, in memory of the
  /// collective's choice; it may be changed until `GatherShares`. There are `shares` of them, at
  /// most as many as ranks; ranks beyond have none. Equal pieces have equal shares on every host.
  virtual std::span<float> ReduceToShare(std::span<float> piece, int shares,
                                         const std::string& what) = 0;
  /// The second half: fills `piece` with the shares of all ranks.
  virtual void GatherShares(std::span<float> piece, int shares, const std::string& what) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_HOST_COLLECTIVE_H_
