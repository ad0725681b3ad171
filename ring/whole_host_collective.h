#ifndef RINGSIDE_RING_WHOLE_HOST_COLLECTIVE_H_
#define RINGSIDE_RING_WHOLE_HOST_COLLECTIVE_H_

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ring/host_collective.h"

namespace ringside {

/// Any collective among the workers of a host as the inside of a hierarchy: it sums whole pieces,
/// of which every rank then takes its share, and broadcasts share by share. Twice the traffic
/// inside of a collective that can stop half-way; across hosts nothing more.
class WholeHostCollective : public HostCollective {
 public:
  /// `rank`: of this worker in `inner`.
  WholeHostCollective(std::unique_ptr<Collective> inner, int rank)
      : inner_(std::move(inner)), rank_(rank) {}

  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override;
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override;
  Traffic traffic() const override { return inner_->traffic(); }
  std::string Notes() const override { return inner_->Notes(); }

  std::size_t PieceElements(std::span<const float> data) const override;
  std::span<float> ReduceToShare(std::span<float> piece, int shares,
                                 const std::string& what) override;
  void GatherShares(std::span<float> piece, int shares, const std::string& what) override;

 private:
  std::unique_ptr<Collective> inner_;
  int rank_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_WHOLE_HOST_COLLECTIVE_H_
