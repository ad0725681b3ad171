#ifndef RINGSIDE_COMMON_BASE_FINITE_H_
#define RINGSIDE_COMMON_BASE_FINITE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ringside {

/// The bits of a magnitude. They are ordered like the magnitudes; those of infinity and of values
/// that are not a number are the largest. For loops that the compiler turns into vector code.
constexpr std::uint32_t MagnitudeBits(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7fffffffU;
}
/// `MagnitudeBits` of infinity. A value is finite if its bits are below.
constexpr std::uint32_t kInfinityBits = 0x7f800000;

/// Returns the index of the first value that is infinite or not a number; nothing if all values are
/// finite. Reads each value once, at the speed of memory.
std::optional<std::size_t> FirstNotFinite(std::span<const float> values);

/// Copies `from` to `to`, which have the same length and are the same or disjoint, and finds the
/// first value that is not finite, in one pass. Copies at least everything before that value.
std::optional<std::size_t> CopyFinite(std::span<const float> from, std::span<float> to);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_FINITE_H_
