#ifndef RINGSIDE_RING_COLLECTIVES_AUTO_COLLECTIVE_H_
#define RINGSIDE_RING_COLLECTIVES_AUTO_COLLECTIVE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/collectives/cost_table.h"
#include "ringside/ring/core/collective_entry.h"
#include "ringside/ring/core/encodable_collective.h"
#include "ringside/ring/transports/gloo_collective.h"

namespace ringside {

/// Sums in the way that was fastest between these ranks for a message of that size. The ways are
/// the algorithms over Gloo and, where several workers are on a host, the memory of that host
/// (hierarchical; with one host only shared memory). `Prepare` times all ways. Each time is the
/// maximum over ranks, so all ranks decide alike. Before `Prepare` it sums with the ring.
///
/// The algorithms add in different orders. Two runs have the same bits only if they choose the same
/// algorithms.
class AutoCollective : public EncodableCollective {
 public:
  /// Collective, like `GlooCollective`. If sums are to be encoded between ranks, it leaves out the
  /// hierarchy and all algorithms that do not support that.
  explicit AutoCollective(const CollectiveContext& context);

  /// Collective. Takes up to about a second, except on slow links. Tries growing sizes, up to the
  /// size of the largest bucket, while there is time.
  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(const BucketMessage& message) override;
  void PrepareEncoded(const BucketPlan& plan, const Codec& codec) override {
    gloo_.PrepareEncoded(plan, codec);
  }
  /// Chooses the way by the encoded size.
  void AllReduceEncoded(const BucketMessage& message, Codec& codec) override;
  void Broadcast(std::span<std::byte> data, int root) override { gloo_.Broadcast(data, root); }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    gloo_.AllGatherInto(mine, all);
  }
  Traffic traffic() const override;
  std::string Notes() const override;

 private:
  /// Returns the index of the way to sum `bytes`.
  std::size_t ChooseAlgorithm(std::size_t bytes) const;
  void Sum(std::size_t way, const BucketMessage& message);
  /// Returns the slowest rank's seconds for one sum: the same on every rank.
  double Time(std::size_t way, const BucketMessage& trial, int sums);
  /// Returns the best round's `Time`; adds the seconds of all rounds to `spent`.
  double Measure(std::size_t way, const BucketMessage& trial, double& spent);

  // Ways to sum: the algorithms, and one more where there is a hierarchy.
  std::vector<const LinkAlgorithm*> algorithms_;
  GlooCollective gloo_;
  const StrategyOptions defaults_;         // the options of `hierarchy_`, which borrows them
  std::unique_ptr<Collective> hierarchy_;  // null where no two workers share a host
  bool one_host_ = false;
  CostTable costs_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_AUTO_COLLECTIVE_H_
