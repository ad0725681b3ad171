#ifndef RINGSIDE_TESTS_COMMON_NUMBERS_H_
#define RINGSIDE_TESTS_COMMON_NUMBERS_H_

#include <algorithm>
#include <span>

namespace ringside {

/// Whether both have the same length and the same bits. (NaN equals itself, and 0 does not equal
/// -0.)
inline bool SameBits(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));
}

/// 1 + 2 + ... + n.
inline float SumUpTo(int n) {
  int sum = 0;
  for (int i = 1; i <= n; ++i) sum += i;
  return static_cast<float>(sum);
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_NUMBERS_H_
