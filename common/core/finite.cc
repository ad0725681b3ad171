#include "ringside/common/core/finite.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "ringside/common/core/vector_clones.h"

namespace ringside {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr std::uint32_t kInfinity = 0x7f800000;

// The bits of magnitudes are ordered like the magnitudes. Infinity and NaN are the largest.
RINGSIDE_VECTOR_CLONES std::uint32_t LargestMagnitudeBits(const float* values, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & kMagnitude);
  }
  return largest;
}

}  // namespace

std::optional<std::size_t> FirstNotFinite(std::span<const float> values) {
  if (LargestMagnitudeBits(values.data(), values.size()) < kInfinity) return std::nullopt;
  const auto found = std::ranges::find_if(values, [](float value) {
    return (std::bit_cast<std::uint32_t>(value) & kMagnitude) >= kInfinity;
  });
  return static_cast<std::size_t>(found - values.begin());
}

}  // namespace ringside
