#include "ringside/common/base/finite.h"

#include <algorithm>
#include <cstdint>

#include "ringside/common/base/vector_clones.h"

namespace ringside {
namespace {

// Floats that are copied before the largest is looked at.
constexpr std::size_t kBlock = 4096;

RINGSIDE_VECTOR_CLONES std::uint32_t LargestMagnitudeBits(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, MagnitudeBits(values[i]));
  }
  return largest;
}

// Both may be the same, so they cannot be restrict.
RINGSIDE_VECTOR_CLONES std::uint32_t CopyBlock(const float* from, float* to, std::size_t count) {
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const float value = from[i];
    largest = std::max(largest, MagnitudeBits(value));
    to[i] = value;
  }
  return largest;
}

}  // namespace

std::optional<std::size_t> FirstNotFinite(std::span<const float> values) {
  if (LargestMagnitudeBits(values.data(), values.size()) < kInfinityBits) return std::nullopt;
  const auto found = std::ranges::find_if(
      values, [](float value) { return MagnitudeBits(value) >= kInfinityBits; });
  return static_cast<std::size_t>(found - values.begin());
}

std::optional<std::size_t> CopyFinite(std::span<const float> from, std::span<float> to) {
  for (std::size_t begin = 0; begin < from.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, from.size() - begin);
    const std::uint32_t largest = CopyBlock(from.data() + begin, to.data() + begin, size);
    if (largest < kInfinityBits) continue;
    const std::optional<std::size_t> index = FirstNotFinite(from.subspan(begin, size));
    return begin + index.value_or(0);
  }
  return std::nullopt;
}

}  // namespace ringside
