// 16-bit floats: every one of them, both ways, and both implementations of fp16.
#include "ringside/common/codec/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/common/numbers.h"

namespace ringside {
namespace {

constexpr std::uint32_t kHalves = 1 << 16;

std::uint16_t Encode(const HalfKernel& kernel, float value) {
  // Sixteen at once, so that vector code is met.
  const std::vector<float> values(16, value);
  std::vector<std::uint16_t> halves(16);
  kernel.encode(values.data(), reinterpret_cast<std::byte*>(halves.data()), values.size());
  return halves[3];
}

std::vector<float> DecodeAll(const HalfKernel& kernel) {
  std::vector<std::uint16_t> halves(kHalves);
  for (std::uint32_t half = 0; half < kHalves; ++half) halves[half] = half & 0xffff;
  std::vector<float> values(kHalves);
  kernel.decode(reinterpret_cast<const std::byte*>(halves.data()), values.data(), kHalves);
  return values;
}

/// The value of a binary16, by its definition.
float Fp16Value(std::uint32_t half) {
  const int exponent = static_cast<int>(half >> 10 & 0x1f);
  const auto fraction = static_cast<float>(half & 0x3ff);
  const float sign = (half & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) {
    const float infinity = std::numeric_limits<float>::infinity();
    return fraction == 0 ? sign * infinity : std::numeric_limits<float>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1 + fraction / 1024, exponent - 15);
}

TEST(HalfTest, Fp16DecodesAsDefined) {
  for (const HalfKernel& kernel : {Fp16Kernel(), PortableFp16Kernel()}) {
    const std::vector<float> values = DecodeAll(kernel);
    for (std::uint32_t half = 0; half < kHalves; ++half) {
      const float expected = Fp16Value(half);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(values[half])) << half;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(values[half]),
                  std::bit_cast<std::uint32_t>(expected))
            << half;
      }
    }
  }
}

TEST(HalfTest, WhatWasDecodedEncodesToItself) {
  for (const HalfKernel& kernel : {Fp16Kernel(), PortableFp16Kernel(), Bf16Kernel()}) {
    const std::vector<float> values = DecodeAll(kernel);
    std::vector<std::uint16_t> back(kHalves);
    kernel.encode(values.data(), reinterpret_cast<std::byte*>(back.data()), kHalves);
    for (std::uint32_t half = 0; half < kHalves; ++half) {
      if (std::isnan(values[half])) {
        ASSERT_GT(back[half] & 0x7fff, kernel.encode == Bf16Kernel().encode ? 0x7f80 : 0x7c00);
      } else {
        ASSERT_EQ(back[half], half);
      }
    }
  }
}

// Between two neighbours: the nearer one, and of the middle the even one.
TEST(HalfTest, RoundsToNearestEven) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const HalfKernel& kernel : {Fp16Kernel(), PortableFp16Kernel(), Bf16Kernel()}) {
    const std::vector<float> values = DecodeAll(kernel);
    for (std::uint32_t half = 0; half + 1 < kHalves / 2; ++half) {
      if (!std::isfinite(values[half + 1])) break;
      const float middle = values[half] + (values[half + 1] - values[half]) / 2;
      ASSERT_EQ(Encode(kernel, middle), half + (half & 1)) << half;
      ASSERT_EQ(Encode(kernel, -middle), (half + (half & 1)) | 0x8000) << half;
      ASSERT_EQ(Encode(kernel, std::nextafter(middle, 0.0F)), half);
      ASSERT_EQ(Encode(kernel, std::nextafter(middle, infinity)), half + 1);
    }
  }
}

TEST(HalfTest, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const HalfKernel& kernel : {Fp16Kernel(), PortableFp16Kernel()}) {
    EXPECT_EQ(Encode(kernel, infinity), 0x7c00);
    EXPECT_EQ(Encode(kernel, -infinity), 0xfc00);
    EXPECT_EQ(Encode(kernel, 65519.0F), 0x7bff);  // still nearer to 65504 than to 65536
    EXPECT_EQ(Encode(kernel, 65520.0F), 0x7c00);
    EXPECT_EQ(Encode(kernel, 1e30F), 0x7c00);
    EXPECT_EQ(Encode(kernel, -0.0F), 0x8000);
    EXPECT_EQ(Encode(kernel, std::numeric_limits<float>::denorm_min()), 0);
    EXPECT_GT(Encode(kernel, std::nanf("")) & 0x7fff, 0x7c00);
    EXPECT_GT(Encode(kernel, std::bit_cast<float>(0x7f800001U)) & 0x7fff, 0x7c00);
  }
  EXPECT_EQ(Encode(Bf16Kernel(), infinity), 0x7f80);
  EXPECT_EQ(Encode(Bf16Kernel(), std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(Encode(Bf16Kernel(), -0.0F), 0x8000);
  EXPECT_GT(Encode(Bf16Kernel(), std::bit_cast<float>(0x7f800001U)) & 0x7fff, 0x7f80);
}

TEST(HalfTest, BothImplementationsOfFp16Agree) {
  std::mt19937 random(1);
  std::vector<float> values(1 << 20);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  for (std::size_t i = 0; i < values.size(); i += 3) {  // the exponents that fp16 has
    values[i] = std::ldexp(1 + static_cast<float>(random() % 8388608) / 8388608,
                           static_cast<int>(random() % 44) - 27);
  }
  std::vector<std::uint16_t> fast(values.size()), portable(values.size());
  Fp16Kernel().encode(values.data(), reinterpret_cast<std::byte*>(fast.data()), values.size());
  PortableFp16Kernel().encode(values.data(), reinterpret_cast<std::byte*>(portable.data()),
                              values.size());
  EXPECT_EQ(fast, portable);
  const std::vector<float> a = DecodeAll(Fp16Kernel()), b = DecodeAll(PortableFp16Kernel());
  EXPECT_TRUE(SameBits(a, b));
}

TEST(HalfTest, AnyAddressAndAnyCount) {
  for (const HalfKernel& kernel : {Fp16Kernel(), PortableFp16Kernel(), Bf16Kernel()}) {
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<float> values(count), back(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) - 7;
      std::vector<std::byte> bytes(2 * count + 2, std::byte{0x5a});
      kernel.encode(values.data(), bytes.data() + 1, count);
      kernel.decode(bytes.data() + 1, back.data(), count);
      EXPECT_EQ(values, back);
      EXPECT_EQ(bytes.front(), std::byte{0x5a});
      EXPECT_EQ(bytes.back(), std::byte{0x5a});
    }
  }
}

}  // namespace
}  // namespace ringside
