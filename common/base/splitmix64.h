#ifndef RINGSIDE_COMMON_BASE_SPLITMIX64_H_
#define RINGSIDE_COMMON_BASE_SPLITMIX64_H_

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The distance between two states of SplitMix64: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kSplitMix64Gamma = 0x9e3779b97f4a7c15;

/// The mixing function of SplitMix64, a bijection. Every bit of the result depends on every bit of
/// `bits`. Not for secrets.
constexpr std::uint64_t MixBits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

/// SplitMix64 (Steele, Lea and Flood, 2014). Its numbers are the same on every machine; the
/// distributions of the standard library do not promise that. A value. Not for secrets.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t Next() { return MixBits(state_ += kSplitMix64Gamma); }

  /// Uniform in [0, bound): the high half of a product (Lemire, 2019). The bias is at most bound /
  /// 2^64, too small to observe. `bound` >= 1.
  constexpr std::size_t Below(std::size_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(Next()) * bound >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_SPLITMIX64_H_
