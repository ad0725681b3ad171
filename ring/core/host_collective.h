#ifndef RINGSIDE_RING_CORE_HOST_COLLECTIVE_H_
#define RINGSIDE_RING_CORE_HOST_COLLECTIVE_H_

#include <cstddef>

#include "ringside/ring/core/collective.h"

namespace ringside {

/// A collective among the workers of one host that can stop half-way, when every rank has a chunk
/// of the sum. A hierarchy needs that: it then sums the chunks over the hosts.
class HostCollective : public Collective {
 public:
  /// Returns how many elements of `message` the two calls below take at a time; the same on every
  /// rank.
  virtual std::size_t PieceElements(const BucketMessage& message) const = 0;
  /// Sums `piece` over all ranks and returns this rank's chunk of the sum, with the chunk's offset.
  /// The collective chooses the memory of the chunk; the caller may change the chunk until
  /// `AllGatherChunks`. There are `chunks` chunks; ranks from `chunks` on get none. All hosts cut
  /// pieces of the same size in the same way.
  virtual BucketMessage ReduceScatter(const BucketMessage& piece, int chunks) = 0;
  /// The second half: fills `piece` with the chunks of all ranks.
  virtual void AllGatherChunks(const BucketMessage& piece, int chunks) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_HOST_COLLECTIVE_H_
