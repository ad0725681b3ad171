#include "ringside/common/codec/codec_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "ringside/common/base/vector_clones.h"

namespace ringside {
namespace {

constexpr std::size_t kLanes = 16;

RINGSIDE_VECTOR_CLONES void AddScaledRun(float factor, const float* __restrict terms,
                                         float* __restrict sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += factor * terms[i];
}

// Magnitudes of floats are ordered like their bits.
RINGSIDE_VECTOR_CLONES std::uint32_t MaxBits(const float* values, std::size_t count) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    most = std::max(most, std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffff);
  }
  return most;
}

// Lane l sums the elements i with i mod 16 = l. So the vector width that the compiler chooses
// changes no bit.
RINGSIDE_VECTOR_CLONES void SumMagnitudes(const float* __restrict values, std::size_t count,
                                          float* __restrict lanes) {
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i + lane]) & 0x7fffffff;
      lanes[lane] += std::bit_cast<float>(bits);
    }
  }
  for (std::size_t i = count / kLanes * kLanes; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffff;
    lanes[i % kLanes] += std::bit_cast<float>(bits);
  }
}

}  // namespace

void AddScaled(float factor, std::span<const float> terms, std::span<float> sum) {
  AddScaledRun(factor, terms.data(), sum.data(), sum.size());
}

float MaxMagnitude(std::span<const float> values) {
  return std::bit_cast<float>(MaxBits(values.data(), values.size()));
}

// Sums in blocks. A lane that grew too large would lose small terms.
float MeanMagnitude(std::span<const float> values) {
  constexpr std::size_t kBlock = 4096;
  double sum = 0;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    std::array<float, kLanes> lanes{};
    SumMagnitudes(values.data() + begin, std::min(kBlock, values.size() - begin), lanes.data());
    for (const float lane : lanes) sum += static_cast<double>(lane);
  }
  return values.empty() ? 0 : static_cast<float>(sum / static_cast<double>(values.size()));
}

float LoadFloat(const std::byte* in) {
  float value;
  std::memcpy(&value, in, sizeof(value));
  return value;
}

void StoreFloat(std::byte* out, float value) { std::memcpy(out, &value, sizeof(value)); }

std::string WrongLength(const Encoding& encoding, std::size_t expected) {
  if (encoding.bytes.size() == expected) return {};
  return std::to_string(encoding.bytes.size()) + " bytes cannot encode " +
         std::to_string(encoding.elements) + " floats, which take " + std::to_string(expected);
}

}  // namespace ringside
