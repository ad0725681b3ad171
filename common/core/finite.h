#ifndef RINGSIDE_COMMON_CORE_FINITE_H_
#define RINGSIDE_COMMON_CORE_FINITE_H_

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

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_FINITE_H_
