#ifndef RINGSIDE_RING_GRADIENT_PLACES_H_
#define RINGSIDE_RING_GRADIENT_PLACES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

#include "common/bucket_plan.h"
#include "common/codec/codec.h"
#include "common/errors.h"
#include "common/flat_space.h"

namespace ringside {

/// Tells which bucket of the flat gradient vector a span is, for collectives that keep something of
/// each. Steps are counted from the start of the run: all ranks sum each bucket once a step.
class GradientPlaces {
 public:
  void Prepare(const FlatSpace& space, const BucketPlan& plan) {
    grads_ = space.grads();
    plan_ = plan;
    steps_.assign(static_cast<std::size_t>(plan.buckets()), 0);
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
  /// Of this bucket's next sum.
  CodecPlace Next(int bucket) {
    return {plan_.range(bucket).begin, steps_[static_cast<std::size_t>(bucket)]++};
  }

 private:
  std::span<const float> grads_;
  BucketPlan plan_;
  std::vector<std::int64_t> steps_;  // by bucket
};

}  // namespace ringside

#endif  // RINGSIDE_RING_GRADIENT_PLACES_H_
