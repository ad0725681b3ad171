#ifndef RINGSIDE_RING_AUTO_COLLECTIVE_H_
#define RINGSIDE_RING_AUTO_COLLECTIVE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ring/collective_table.h"
#include "ring/cost_table.h"
#include "ring/encoding_collective.h"
#include "ring/gloo_collective.h"

namespace ringside {

/// Sums in whichever way took least for a message of that size between these very ranks: with one
/// of the algorithms over Gloo or, where workers share a host, through its memory (hierarchical,
/// which on one host is shared memory alone). `Prepare` times them all. The ranks take the maximum
/// over ranks of every time, so that all decide alike. Until then it sums with the ring.
///
/// The algorithms add in different orders: two runs have the same bits only where they pick the
/// same.
class AutoCollective : public EncodingCollective {
 public:
  /// Collective, as `GlooCollective`. Where sums are to be encoded on their way it leaves out what
  /// cannot, and the hierarchy.
  explicit AutoCollective(const CollectiveContext& context);

  /// Collective. Takes up to about a second on all but slow links: sizes grow up to the largest
  /// bucket's as long as there is time.
  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) override;
  void AllReduceSum(std::span<float> data, const std::string& what) override;
  /// Picks by the bytes that are sent.
  void AllReduceEncoded(std::span<float> data, Codec& codec, const CodecPlace& place,
                        const std::string& what) override;
  void Broadcast(std::span<float> data, int root) override { gloo_.Broadcast(data, root); }
  std::vector<std::byte> AllGather(std::span<const std::byte> mine) override {
    return gloo_.AllGather(mine);
  }
  Traffic traffic() const override;
  std::string Notes() const override;

 private:
  /// Index of the way to take for so many bytes.
  std::size_t WayFor(std::size_t bytes) const;
  void Sum(std::size_t way, std::span<float> data, const std::string& what);
  /// Seconds of one sum, of the slowest rank: the same on every rank.
  double Time(std::size_t way, std::span<float> data, int sums);
  /// Of the best round; adds what all rounds took to `spent`.
  double Measure(std::size_t way, std::span<float> data, double& spent);

  // Ways to sum: the algorithms, and one more where there is a hierarchy.
  std::vector<RingAlgorithm> algorithms_;
  GlooCollective gloo_;
  std::unique_ptr<Collective> hierarchy_;  // null where no two workers share a host
  bool one_host_ = false;
  CostTable costs_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_AUTO_COLLECTIVE_H_
