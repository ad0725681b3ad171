#include "ringside/models/networks/initial_values.h"

#include <cmath>
#include <cstdint>

namespace ringside {

InitialGenerator MakeInitialGenerator(std::uint64_t seed) {
  return InitialGenerator(static_cast<std::uint32_t>(seed));
}

double DefaultBound(std::size_t fan_in) { return 1.0 / std::sqrt(static_cast<double>(fan_in)); }

void FillUniform(std::span<float> out, double bound, InitialGenerator& generator) {
  constexpr std::uint32_t kMask = (1U << 24) - 1;
  constexpr float kUnit = 1.0F / (1U << 24);
  const auto to = static_cast<float>(bound);
  const auto from = static_cast<float>(-bound);
  const float width = to - from;
  for (float& value : out) {
    const float unit = static_cast<float>(generator() & kMask) * kUnit;
    value = unit * width + from;
  }
}

}  // namespace ringside
