#include "ringside/common/codec/half.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "ringside/common/base/vector_clones.h"

#if defined(__x86_64__) && !defined(RINGSIDE_NO_TARGET_CLONES)
#define RINGSIDE_F16C 1
#include <immintrin.h>
#endif

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "16-bit floats travel little-endian");

constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kHalfInfinity = 0x7c00;
constexpr std::uint32_t kQuietHalf = 0x7e00;

std::uint16_t Load16(const std::byte* in) {
  std::uint16_t value;
  std::memcpy(&value, in, sizeof(value));
  return value;
}

void Store16(std::byte* out, std::uint32_t value) {
  const auto low = static_cast<std::uint16_t>(value);
  std::memcpy(out, &low, sizeof(low));
}

std::uint32_t ToFp16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kInfinity) return sign | kQuietHalf | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x47800000) return sign | kHalfInfinity;  // 2^16 and more
  if (magnitude < 0x38800000) {
    // A result below 2^-14 counts units of 2^-24. Adding 0.5, which is 2^23 units of 2^-24, puts
    // this count into the lowest bits of the fraction, rounded like any sum.
    const float counted = std::bit_cast<float>(magnitude) + 0.5F;
    return sign | (std::bit_cast<std::uint32_t>(counted) - std::bit_cast<std::uint32_t>(0.5F));
  }
  // The bias of the exponent falls from 127 to 15. A carry out of the fraction raises the exponent,
  // up to infinity if necessary.
  const std::uint32_t to_even = magnitude >> 13 & 1;
  return sign | ((magnitude - 0x38000000 + 0xfff + to_even) >> 13);
}

float FromFp16(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000) << 16;
  const std::uint32_t magnitude = half & 0x7fff;
  if (magnitude >= kHalfInfinity) {
    const std::uint32_t quiet = magnitude > kHalfInfinity ? 0x400000 : 0;
    return std::bit_cast<float>(sign | kInfinity | quiet | (magnitude & 0x3ff) << 13);
  }
  if (magnitude < 0x400) {  // a count of 2^-24
    const float counted = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(counted));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
}

void EncodeFp16(const float* in, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) Store16(out + 2 * i, ToFp16(in[i]));
}

void DecodeFp16(const std::byte* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = FromFp16(Load16(in + 2 * i));
}

#ifdef RINGSIDE_F16C
__attribute__((target("avx2,f16c"))) void EncodeF16c(const float* in, std::byte* out,
                                                     std::size_t count) {
  constexpr std::size_t kLanes = 8;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m128i halves =
        _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), halves);
  }
  EncodeFp16(in + i, out + 2 * i, count - i);
}

__attribute__((target("avx2,f16c"))) void DecodeF16c(const std::byte* in, float* out,
                                                     std::size_t count) {
  constexpr std::size_t kLanes = 8;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  DecodeFp16(in + 2 * i, out + i, count - i);
}
#endif

RINGSIDE_VECTOR_CLONES void EncodeBf16(const float* in, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(in[i]);
    const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const std::uint32_t quiet = bits >> 16 | 0x40;
    const bool is_nan = (bits & 0x7fffffff) > kInfinity;
    const auto half = static_cast<std::uint16_t>(is_nan ? quiet : rounded);
    std::memcpy(out + 2 * i, &half, sizeof(half));
  }
}

RINGSIDE_VECTOR_CLONES void DecodeBf16(const std::byte* in, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t half;
    std::memcpy(&half, in + 2 * i, sizeof(half));
    out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  }
}

}  // namespace

HalfKernel PortableFp16Kernel() { return {EncodeFp16, DecodeFp16}; }

HalfKernel Fp16Kernel() {
#ifdef RINGSIDE_F16C
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) {
    return {EncodeF16c, DecodeF16c};
  }
#endif
  return PortableFp16Kernel();
}

HalfKernel Bf16Kernel() { return {EncodeBf16, DecodeBf16}; }

}  // namespace ringside
