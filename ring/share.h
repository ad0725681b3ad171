#ifndef RINGSIDE_RING_SHARE_H_
#define RINGSIDE_RING_SHARE_H_

#include <cstddef>
#include <span>

namespace ringside {

/// A range of elements.
struct Share {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

/// Share `index` of `shares` of `data`: nearly equal, cut where cache lines of the memory end, so
/// that no two ranks write to one line. Vectors that differ by whole lines have the same shares.
Share ShareOf(std::span<const float> data, int shares, int index);

}  // namespace ringside

#endif  // RINGSIDE_RING_SHARE_H_
