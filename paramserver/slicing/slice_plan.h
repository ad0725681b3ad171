#ifndef RINGSIDE_PARAMSERVER_SLICING_SLICE_PLAN_H_
#define RINGSIDE_PARAMSERVER_SLICING_SLICE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"

namespace ringside {

/// A part of a bucket: the unit that travels between a worker and a server, and the piece of the
/// model that one server owns.
struct Slice {
  int bucket = 0;
  int server = 0;
  std::size_t begin = 0;  ///< First element in the flat vectors.
  std::size_t size = 0;   ///< In elements.
  bool leads = false;     ///< The first slice of its bucket.
};

/// Cuts the buckets of a plan into slices and gives each slice to a server. A pure function of its
/// inputs, so it is the same on every rank. Ranks compare `Fingerprint`.
///
/// Take n workers and M elements. The link of a dedicated server with m elements carries n m in
/// each direction. The link of a worker whose server has m elements carries M + (n-2) m: its own
/// gradients and parameters except the part for its own server, and those of other workers for its
/// server. Servers get the shares that make these equal: one kind of server gets equal shares. With
/// n co-located and k < n dedicated servers they are the shares of BytePS (Jiang et al., OSDI
/// 2020): 2(n-1)/(n^2+kn-2k) for a dedicated server, (n-k)/(n^2+kn-2k) for a co-located one.
///
/// Slices are dealt in plan order, each to the server that it would bring least far beyond its
/// share. So at any time of a backward pass all servers have got their shares, up to one slice.
class SlicePlan {
 public:
  SlicePlan() = default;
  /// A slice begins at a multiple of this.
  static constexpr std::size_t kAlignment = 16;

  /// Slices have at most `slice_elements` elements (at least one unit) and begin at multiples of a
  /// unit of their bucket. The slices of a bucket differ by less than a unit in size, except for
  /// the last one. 0: each bucket is one slice. Then the largest bucket is dealt first
  /// (`BucketPlan::AssignServers`). A unit is `kAlignment` elements, or `codec_block`
  /// (`CodecBlock`) if that is more, which is then a multiple of it.
  SlicePlan(const BucketPlan& plan, const World& world, std::size_t slice_elements,
            std::size_t codec_block = 1);

  int slices() const { return static_cast<int>(slices_.size()); }
  const Slice& slice(int index) const { return slices_[static_cast<std::size_t>(index)]; }
  int buckets() const { return static_cast<int>(ends_.size()); }
  /// The slices of a bucket: [first_slice, end_slice).
  int first_slice(int bucket) const { return bucket == 0 ? 0 : end_slice(bucket - 1); }
  int end_slice(int bucket) const { return ends_[static_cast<std::size_t>(bucket)]; }

  /// The share of the plan's elements that each server owns.
  const std::vector<double>& shares() const& { return shares_; }
  std::vector<double> shares() && { return std::move(shares_); }
  /// The elements of the largest slice; 0 without slices.
  std::size_t largest() const;

  /// FNV-1a over the plan, the slices and their servers.
  std::uint64_t Fingerprint() const;

 private:
  void CutBuckets(const BucketPlan& plan, std::size_t slice_elements, std::size_t unit);
  void DealInPlanOrder(const World& world);
  void DealWholeBuckets(const BucketPlan& plan, const World& world);
  void SumShares(std::size_t elements, int servers);

  std::vector<Slice> slices_;
  std::vector<int> ends_;  // by bucket: one past its last slice
  std::vector<double> shares_;
  std::uint64_t plan_fingerprint_ = 0;
};

/// The share of the model that each server should own, for equally busy links (README.md).
std::vector<double> IdealShares(const World& world);

/// The bytes of all buckets of one worker in a step, as sent.
struct StepBytes {
  double gradients = 0;
  double parameters = 0;
};

/// The bytes that the busiest link carries in a step, in its busier direction, when servers own
/// these shares.
double BusiestLinkBytes(std::span<const double> shares, const World& world, const StepBytes& bytes);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SLICING_SLICE_PLAN_H_
