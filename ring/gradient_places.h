#ifndef RINGSIDE_RING_GRADIENT_PLACES_H_
#define RINGSIDE_RING_GRADIENT_PLACES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ranges>
#include <span>

#include "common/bucket_plan.h"
#include "common/codec/codec.h"
#include "common/errors.h"
#include "common/flat_space.h"

namespace ringside {

/// Tells where in the flat gradient vector a span is, for collectives that keep something of each
/// place. Steps are counted from the first one: all ranks sum each bucket once a step.
class GradientPlaces {
 public:
  void Prepare(const FlatSpace& space, const BucketPlan& plan, std::int64_t first_step) {
    grads_ = space.grads();
    plan_ = plan;
    first_step_ = first_step;
    sums_.clear();
  }

  std::size_t elements() const { return grads_.size(); }

  /// Throws `InternalError` for a span that is no bucket.
  int BucketOf(std::span<const float> data) const {
    const auto offset = static_cast<std::size_t>(data.data() - grads_.data());
    const auto buckets = std::views::iota(0, plan_.buckets());
    const auto begin = [&](int bucket) { return plan_.range(bucket).begin; };
    const auto found = std::ranges::lower_bound(buckets, offset, {}, begin);
    if (found != buckets.end() && begin(*found) == offset &&
        plan_.range(*found).size() == data.size()) {
      return *found;
    }
    throw InternalError("only whole buckets of gradients can be summed with a codec");
  }
  /// The bucket that an element is in.
  int BucketAt(std::size_t element) const {
    const auto buckets = std::views::iota(0, plan_.buckets());
    const auto end = [&](int bucket) { return plan_.range(bucket).end; };
    return *std::ranges::upper_bound(buckets, element, {}, end);
  }
  /// Of this bucket's next sum.
  CodecPlace Next(int bucket) { return NextAt(plan_.range(bucket).begin); }
  /// Of the next sum of a span that always begins where this one does: a bucket, or a share of one
  /// that is the same in every step. Throws `InternalError` for a span that is of no gradients.
  CodecPlace Next(std::span<const float> data) {
    const auto inside = [&](const float* at) {
      return !std::less<>()(at, grads_.data()) && !std::less<>()(grads_.data() + grads_.size(), at);
    };
    if (!inside(data.data()) || !inside(data.data() + data.size())) {
      throw InternalError("only gradients of the flat vector can be summed with a codec");
    }
    return NextAt(static_cast<std::size_t>(data.data() - grads_.data()));
  }

 private:
  CodecPlace NextAt(std::size_t offset) { return {offset, first_step_ + sums_[offset]++}; }

  std::span<const float> grads_;
  BucketPlan plan_;
  std::int64_t first_step_ = 0;
  std::map<std::size_t, std::int64_t> sums_;  // how many there have been, by first element
};

}  // namespace ringside

#endif  // RINGSIDE_RING_GRADIENT_PLACES_H_
