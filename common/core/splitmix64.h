#ifndef RINGSIDE_COMMON_CORE_SPLITMIX64_H_
#define RINGSIDE_COMMON_CORE_SPLITMIX64_H_

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The distance between two states of SplitMix64: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t kSplitMix64Gamma = 0x9e3779b97f4a7c15;

/// The mixing function of SplitMix64: a bijection after which every bit depends on every bit of
/// `bits`. Not for secrets.
constexpr std::uint64_t MixBits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

/// SplitMix64 (Steele, Lea and Flood, 2014): a generator whose numbers are the same on every
/// machine, which the standard library's distributions do not promise. A value; not for secrets.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t Next() { return MixBits(state_ += kSplitMix64Gamma); }

  /// In [0, bound), by the high half of a product (Lemire, 2019). Its bias of bound / 2^64 cannot
  /// be observed. `bound` >= 1.
  constexpr std::size_t Below(std::size_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Wide>(Next()) * bound >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_SPLITMIX64_H_
