#ifndef RINGSIDE_COMMON_BASE_COUNTER_RANDOM_H_
#define RINGSIDE_COMMON_BASE_COUNTER_RANDOM_H_

#include <cstdint>
#include <initializer_list>

#include "ringside/common/base/splitmix64.h"

namespace ringside {

/// Random numbers without state (Salmon et al., SC 2011). The n-th number under a key is a hash of
/// n and the key, so earlier draws do not change it. The hash is Wellons' lowbias32 with the key
/// mixed in at two places. It uses only 32-bit operations, which vectorise. Not for secrets.
struct RandomKey {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  /// A key for the tuple of `parts`.
  static RandomKey Of(std::initializer_list<std::uint64_t> parts) {
    std::uint64_t state = 0;
    for (const std::uint64_t part : parts) state = MixBits(state + part + kSplitMix64Gamma);
    return {static_cast<std::uint32_t>(state), static_cast<std::uint32_t>(state >> 32)};
  }
};

inline std::uint32_t RandomBits(RandomKey key, std::uint32_t counter) {
  std::uint32_t bits = counter + key.first;
  bits = (bits ^ bits >> 16) * 0x7feb352d;
  bits += key.second;
  bits = (bits ^ bits >> 15) * 0x846ca68b;
  return bits ^ bits >> 16;
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_COUNTER_RANDOM_H_
