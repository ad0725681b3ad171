#ifndef RINGSIDE_COMMON_CORE_FINITE_H_
#define RINGSIDE_COMMON_CORE_FINITE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace ringside {

/// Returns the index of the first value that is infinite or not a number; nothing if all values are
/// finite. Reads each value once, at the speed of memory.
std::optional<std::size_t> FirstNotFinite(std::span<const float> values);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_FINITE_H_
