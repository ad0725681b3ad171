#ifndef RINGSIDE_MODELS_DATA_SPLITMIX64_H_
#define RINGSIDE_MODELS_DATA_SPLITMIX64_H_

#include <cstdint>

namespace ringside {

/// SplitMix64 (Steele, Lea and Flood, 2014): a tiny generator whose numbers are the same on every
/// platform, which std:: distributions do not promise.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// In [0, bound); the bias is below bound / 2^64. `bound` >= 1.
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_SPLITMIX64_H_
