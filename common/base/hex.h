#ifndef RINGSIDE_COMMON_BASE_HEX_H_
#define RINGSIDE_COMMON_BASE_HEX_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Returns two lower-case digits per byte.
std::string ToHex(std::span<const std::byte> bytes);

/// Returns the bytes that `hex` represents, in digits of either case. Throws `InternalError` with
/// the position of a wrong digit, or with the length when it is odd. A caller that received `hex`
/// from another process must turn that into a `CommError`.
std::vector<std::byte> FromHex(std::string_view hex);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_HEX_H_
