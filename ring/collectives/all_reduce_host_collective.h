#ifndef RINGSIDE_RING_COLLECTIVES_ALL_REDUCE_HOST_COLLECTIVE_H_
#define RINGSIDE_RING_COLLECTIVES_ALL_REDUCE_HOST_COLLECTIVE_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/ring/core/host_collective.h"

namespace ringside {

/// Makes any collective among the workers of a host usable in a hierarchy. It sums whole pieces,
/// takes this rank's chunk, and later broadcasts chunk by chunk. Inside the host this moves twice
/// the bytes of a collective that can stop half-way. Between hosts it moves the same.
class AllReduceHostCollective : public HostCollective {
 public:
  /// `rank` is this worker's rank in `inner`.
  AllReduceHostCollective(std::unique_ptr<Collective> inner, int rank)
      : inner_(std::move(inner)), rank_(rank) {}

  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(const BucketMessage& message) override;
  void Broadcast(std::span<std::byte> data, int root) override;
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override;
  Traffic traffic() const override { return inner_->traffic(); }
  std::string Notes() const override { return inner_->Notes(); }

  std::size_t PieceElements(const BucketMessage& message) const override;
  BucketMessage ReduceScatter(const BucketMessage& piece, int chunks) override;
  void AllGatherChunks(const BucketMessage& piece, int chunks) override;

 private:
  std::unique_ptr<Collective> inner_;
  int rank_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_ALL_REDUCE_HOST_COLLECTIVE_H_
