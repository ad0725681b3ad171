#ifndef RINGSIDE_RING_AUTO_COLLECTIVE_H_
#define RINGSIDE_RING_AUTO_COLLECTIVE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ring/collective.h"
#include "ring/collective_table.h"
#include "ring/cost_table.h"
#include "ring/gloo_collective.h"

namespace ringside {

/// Sums with whichever algorithm took least for a message of that size between these very ranks:
/// `Prepare` times them all. The ranks take the maximum over ranks of every time, so that all
/// decide alike. Until then it sums with the ring.
///
/// The algorithms add in different orders: two runs have the same bits only where they pick the
/// same.
class AutoCollective : public Collective {
 public:
  /// Collective, as `GlooCollective`.
  explicit AutoCollective(const CollectiveContext& context);

  /// Collective. Takes up to about a second on all but slow links: sizes grow up to the largest
  /// bucket's as long as there is time.
  void Prepare(const FlatSpace& space, const BucketPlan& plan) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override { gloo_.Broadcast(data, root); }
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override {
    return gloo_.AllGather(mine);
  }
  Traffic traffic() const override { return gloo_.traffic(); }
  std::string Notes() const override;

 private:
  /// Seconds of one sum, of the slowest rank: the same on every rank.
  double Time(RingAlgorithm algorithm, std::span<float> data, int sums);
  /// Of the best round; adds what all rounds took to `spent`.
  double Measure(RingAlgorithm algorithm, std::span<float> data, double& spent);

  GlooCollective gloo_;
  CostTable costs_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_AUTO_COLLECTIVE_H_
