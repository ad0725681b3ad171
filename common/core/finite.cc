#include "ringside/common/core/finite.h"

#include <algorithm>
#include <cstdint>

#include "ringside/common/core/vector_clones.h"

namespace ringside {
namespace {

RINGSIDE_VECTOR_CLONES std::uint32_t LargestMagnitudeBits(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, MagnitudeBits(values[i]));
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

}  // namespace ringside
