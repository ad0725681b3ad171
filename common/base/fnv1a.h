#ifndef RINGSIDE_COMMON_BASE_FNV1A_H_
#define RINGSIDE_COMMON_BASE_FNV1A_H_

#include <cstdint>

namespace ringside {

/// The hash FNV-1a of 64 bits (Fowler, Noll, Vo). Start with `kFnv1aBasis`, then add one value
/// after the other. It finds accidental differences. It is no protection against intended ones.
inline constexpr std::uint64_t kFnv1aBasis = 0xcbf29ce484222325;

constexpr std::uint64_t Fnv1aByte(std::uint64_t hash, std::uint8_t byte) {
  return (hash ^ byte) * 0x100000001b3;
}

/// Adds the eight bytes of `value`, the lowest first.
constexpr std::uint64_t Fnv1a(std::uint64_t hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    hash = Fnv1aByte(hash, static_cast<std::uint8_t>(value >> (8 * byte)));
  }
  return hash;
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_FNV1A_H_
