// Tests the promises of every codec, and the details of each.
#include "ringside/common/codec/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/codec/error_feedback.h"
#include "ringside/common/codec/int8_codec.h"
#include "ringside/common/codec/top_k_codec.h"

namespace ringside {
namespace {

CodecOptions OptionsOf(const std::string& text, ErrorFeedback feedback = ErrorFeedback::kAuto) {
  CodecOptions options{.error_feedback = feedback, .seed = 11};
  ParseCodec(text, BuiltinCodecs(), options);
  return options;
}

std::unique_ptr<Codec> BareCodec(const std::string& text, int rank = 0) {
  return MakeBareCodec(OptionsOf(text), rank);
}

std::vector<float> RandomValues(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1e-2F);
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return normal(random); });
  return values;
}

std::vector<std::byte> Encode(Codec& codec, std::span<const float> values,
                              const GradientPosition& place = {}) {
  std::vector<std::byte> bytes(codec.EncodedBytes(values.size()));
  codec.Encode(values, place, bytes);
  return bytes;
}

std::vector<float> Decode(const Codec& codec, std::span<const std::byte> bytes, std::size_t count) {
  std::vector<float> values(count, std::nanf(""));
  EXPECT_EQ(codec.Validate({bytes, count}), "");
  codec.Decode({bytes, count}, 0, values);
  return values;
}

std::vector<float> RoundTrip(Codec& codec, std::span<const float> values) {
  return Decode(codec, Encode(codec, values), values.size());
}

class CodecTest : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Codec> Make(int rank = 0) const { return BareCodec(GetParam(), rank); }
};

INSTANTIATE_TEST_SUITE_P(Codecs, CodecTest,
                         testing::Values("fp16", "bf16", "int8", "topk:0.01", "topk:0.3",
                                         "topk:0.6", "sign"),
                         [](const auto& codec) {
                           std::string name = codec.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == ':' || c == '.'; }, '_');
                           return name;
                         });

// Sizes around every unit that a codec works in; the bytes lie at odd addresses.
TEST_P(CodecTest, PartsAddUpToTheWhole) {
  const auto codec = Make();
  for (const std::size_t count : {0, 1, 2, 7, 63, 64, 65, 1025, 70'001}) {
    const std::vector<float> values = RandomValues(count);
    std::vector<std::byte> bytes(codec->EncodedBytes(count) + 2, std::byte{0x5a});
    const auto encoded = std::span(bytes).subspan(1, bytes.size() - 2);
    codec->Encode(values, {}, encoded);
    ASSERT_EQ(bytes.front(), std::byte{0x5a});
    ASSERT_EQ(bytes.back(), std::byte{0x5a});
    const std::vector<float> whole = Decode(*codec, encoded, count);
    std::vector<float> sum(count, 1.0F);
    for (std::size_t begin = 0; begin < count; begin += 2048) {
      const auto part = std::span(sum).subspan(begin, std::min<std::size_t>(2048, count - begin));
      std::vector<float> decoded(part.size());
      codec->Decode({encoded, count}, begin, decoded);
      ASSERT_TRUE(std::ranges::equal(decoded, std::span(whole).subspan(begin, part.size())));
      codec->Add({encoded, count}, begin, -2, part);
    }
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sum[i], 1.0F + -2 * whole[i]) << i;
  }
}

/// The part [begin, begin + elements) of an encoding, between two bytes that nobody may write.
std::vector<std::byte> PartOf(const Codec& codec, const Encoding& whole, std::size_t begin,
                              std::size_t elements) {
  const EncodingParts& parts = *codec.parts();
  std::vector<std::byte> bytes(parts.PartBytes(whole, begin, elements) + 2, std::byte{0x5a});
  parts.CopyPart(whole, begin, elements, std::span(bytes).subspan(1, bytes.size() - 2));
  EXPECT_EQ(bytes.front(), std::byte{0x5a});
  EXPECT_EQ(bytes.back(), std::byte{0x5a});
  return {bytes.begin() + 1, bytes.end() - 1};
}

// How a bucket is cut for servers changes no bit.
TEST_P(CodecTest, PartsOfAnEncodingHaveItsValues) {
  const auto codec = Make();
  for (const std::size_t count : {1, 2, 16, 17, 64, 100, 1025, 70'001, 200'000}) {
    for (const std::size_t size : {16, 48, 4096, 65'536 + 16}) {
      const std::vector<float> values = RandomValues(count);
      const std::vector<std::byte> bytes = Encode(*codec, values);
      const std::vector<float> whole = Decode(*codec, bytes, count);
      for (std::size_t begin = 0; begin < count; begin += size) {
        const std::size_t elements = std::min(size, count - begin);
        const auto expected = std::span(whole).subspan(begin, elements);
        if (codec->parts() == nullptr) {
          if (size % codec->block() != 0) break;
          const auto piece =
              Encode(*codec, std::span(values).subspan(begin, elements), {.offset = begin});
          ASSERT_TRUE(std::ranges::equal(Decode(*codec, piece, elements), expected));
          continue;
        }
        std::vector<std::byte> part = PartOf(*codec, {bytes, count}, begin, elements);
        ASSERT_EQ(codec->parts()->ValidatePart({part, elements}), "");
        std::vector<float> decoded(elements);
        codec->Decode({part, elements}, 0, decoded);
        ASSERT_TRUE(std::ranges::equal(decoded, expected)) << begin << " of " << count;
        const std::size_t unpadded = part.size();
        part.resize((unpadded + 3) / 4 * 4);
        ASSERT_EQ(codec->parts()->UnpaddedBytes({part, elements}), unpadded);
        ASSERT_LE(part.size(), elements * sizeof(float));
      }
    }
  }
}

TEST_P(CodecTest, DamagedPartsAreFoundOrHarmless) {
  std::mt19937 random(4);
  const auto codec = Make();
  if (codec->parts() == nullptr) return;
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 64 + random() % 200 + (round % 10 == 0 ? 66'000 : 0);
    const std::size_t elements = random() % (count - 32);
    const std::vector<std::byte> bytes = Encode(*codec, RandomValues(count));
    std::vector<std::byte> part = PartOf(*codec, {bytes, count}, 32, elements);
    if (round % 3 == 0) part.resize(random() % (part.size() + 8));
    for (int hits = 0; hits < 4 && !part.empty(); ++hits) {
      part[random() % std::min<std::size_t>(part.size(), 64)] = static_cast<std::byte>(random());
    }
    part.shrink_to_fit();
    static_cast<void>(codec->parts()->UnpaddedBytes({part, elements}));
    if (!codec->parts()->ValidatePart({part, elements}).empty()) {
      ++found;
      continue;
    }
    std::vector<float> decoded(elements);
    codec->Decode({part, elements}, 0, decoded);
  }
  EXPECT_GT(found, 50);
}

TEST_P(CodecTest, TheSamePlaceGivesTheSameBytes) {
  const std::vector<float> values = RandomValues(3001);
  const GradientPosition place{.offset = 640, .step = 17};
  EXPECT_EQ(Encode(*Make(), values, place), Encode(*Make(), values, place));
}

TEST_P(CodecTest, ZerosStayZeros) {
  const std::vector<float> zeros(1000);
  for (const float value : RoundTrip(*Make(), zeros)) EXPECT_EQ(value, 0.0F);
}

TEST_P(CodecTest, WhatIsNotFiniteIsSeenByTheReceiver) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values = RandomValues(500);
    values[321] = value;
    const std::vector<float> decoded = RoundTrip(*Make(), values);
    EXPECT_TRUE(std::ranges::any_of(decoded, [](float d) { return !std::isfinite(d); }));
  }
}

// For any bytes: either they are found damaged, or reading them stays within the vector (sanitizers
// check it) and each part reads the same values.
TEST_P(CodecTest, DamagedBytesAreFoundOrHarmless) {
  std::mt19937 random(3);
  const auto codec = Make();
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = random() % 200 + (round % 10 == 0 ? 66'000 : 0);
    const std::vector<float> values = RandomValues(count);
    std::vector<std::byte> bytes = Encode(*codec, values);
    if (round % 3 == 0) bytes.resize(random() % (bytes.size() + 8));
    for (int hits = 0; hits < 4 && !bytes.empty(); ++hits) {
      bytes[random() % std::min<std::size_t>(bytes.size(), 64)] = static_cast<std::byte>(random());
    }
    if (!codec->Validate({bytes, count}).empty()) continue;
    ASSERT_EQ(bytes.size(), codec->EncodedBytes(count));
    std::vector<float> decoded(count);
    codec->Decode({bytes, count}, 0, decoded);
  }
}

TEST_P(CodecTest, AnotherLengthIsDamage) {
  const auto codec = Make();
  const std::vector<std::byte> bytes(codec->EncodedBytes(100) + 1);
  EXPECT_NE(codec->Validate({bytes, 100}), "");
  EXPECT_NE(codec->Validate({std::span(bytes).first(3), 100}), "");
}

// With error feedback nothing is lost in the long run.
TEST_P(CodecTest, WhatWasDecodedAndTheResidualAreWhatWasPutIn) {
  constexpr std::size_t kCount = 5000;
  ErrorFeedbackCodec codec(Make(), kCount);
  std::vector<double> put_in(kCount), decoded(kCount);
  for (int step = 0; step < 20; ++step) {
    const std::vector<float> values = RandomValues(kCount, static_cast<unsigned>(step));
    // In two parts, as buckets are.
    for (const auto& [begin, size] : {std::pair<std::size_t, std::size_t>{0, 1920}, {1920, 3080}}) {
      const auto part = std::span(values).subspan(begin, size);
      const auto bytes = Encode(codec, part, {.offset = begin, .step = step});
      const std::vector<float> out = Decode(codec, bytes, size);
      for (std::size_t i = 0; i < size; ++i) {
        put_in[begin + i] += static_cast<double>(part[i]);
        decoded[begin + i] += static_cast<double>(out[i]);
      }
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_NEAR(decoded[i] + static_cast<double>(codec.Residual()[i]), put_in[i], 1e-6) << i;
  }
}

TEST(CodecTest, WireBytesAreThoseOfTheEncoding) {
  for (const std::string text : {"fp16", "bf16", "int8", "topk:0.01", "sign"}) {
    for (const std::size_t count : {0, 1, 1000, 1'000'000}) {
      EXPECT_EQ(WireBytes(OptionsOf(text), count),
                MakeBareCodec(OptionsOf(text), 0)->EncodedBytes(count));
    }
  }
  constexpr std::size_t kMany = 1'000'000;
  EXPECT_EQ(WireBytes(OptionsOf("fp32"), kMany), 4 * kMany);
  EXPECT_EQ(WireBytes(OptionsOf("fp16"), kMany), 2 * kMany);
  EXPECT_EQ(WireBytes(OptionsOf("int8"), kMany), kMany + std::size_t{977} * 4);
  EXPECT_EQ(WireBytes(OptionsOf("sign"), kMany), kMany / 8 + 4);
  EXPECT_EQ(WireBytes(OptionsOf("topk:0.01"), kMany), std::size_t{16} * 4 + kMany / 100 * 6);
  EXPECT_EQ(WireBytes(OptionsOf("powersgd:4"), kMany), std::size_t{2} * 1000 * 4 * 4);
}

TEST(CodecTest, Fp32AndPowerSgdEncodeNoGradientAlone) {
  EXPECT_THROW(BareCodec("fp32"), InternalError);
  EXPECT_THROW(BareCodec("powersgd:2"), InternalError);
}

TEST(CodecTest, ErrorFeedbackIsOnWhereErrorsDoNotAverageOut) {
  for (const std::string on : {"topk:0.1", "sign", "powersgd:2"}) {
    EXPECT_TRUE(UsesErrorFeedback(OptionsOf(on)));
    EXPECT_FALSE(UsesErrorFeedback(OptionsOf(on, ErrorFeedback::kOff)));
  }
  for (const std::string off : {"fp32", "fp16", "bf16", "int8"}) {
    EXPECT_FALSE(UsesErrorFeedback(OptionsOf(off)));
    EXPECT_TRUE(UsesErrorFeedback(OptionsOf(off, ErrorFeedback::kOn)));
  }
}

TEST(HalfCodecTest, ErrorsAreBoundedBySmallestFractions) {
  const std::vector<float> values = RandomValues(10'000);
  for (const auto& [text, ulp] : {std::pair{"fp16", 0x1p-11F}, {"bf16", 0x1p-8F}}) {
    const auto codec = BareCodec(text);
    const std::vector<float> decoded = RoundTrip(*codec, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // fp16 counts 2^-24 below 2^-14.
      ASSERT_NEAR(decoded[i], values[i], std::abs(values[i]) * ulp + 0x1p-25F) << text;
    }
  }
}

TEST(Int8CodecTest, MultiplesOfTheScaleAreExact) {
  std::vector<float> values;
  for (int i = -127; i <= 127; ++i) values.push_back(static_cast<float>(i) * 0.25F);
  const auto codec = BareCodec("int8");
  EXPECT_EQ(RoundTrip(*codec, values), values);
}

TEST(Int8CodecTest, RoundsToANeighbourAndIsRightOnAverage) {
  constexpr std::size_t kDraws = 20'000;
  std::vector<float> values(kDraws, 0.3F);
  for (std::size_t i = 0; i < kDraws; i += Int8Codec::kBlock) values[i] = 127;  // scales are 1
  const auto codec = BareCodec("int8");
  const std::vector<float> decoded = RoundTrip(*codec, values);
  double sum = 0;
  for (std::size_t i = 0; i < kDraws; ++i) {
    if (values[i] == 127) continue;
    ASSERT_TRUE(decoded[i] == 0.0F || decoded[i] == 1.0F);
    sum += static_cast<double>(decoded[i]);
  }
  EXPECT_NEAR(sum / kDraws, 0.3, 0.02);  // six standard deviations
}

TEST(Int8CodecTest, RanksAndStepsRoundDifferently) {
  const std::vector<float> values = RandomValues(1000);
  const auto bytes = Encode(*BareCodec("int8", 0), values, {.step = 1});
  EXPECT_NE(bytes, Encode(*BareCodec("int8", 1), values, {.step = 1}));
  EXPECT_NE(bytes, Encode(*BareCodec("int8", 0), values, {.step = 2}));
  EXPECT_NE(bytes, Encode(*BareCodec("int8", 0), values, {.offset = 64, .step = 1}));
}

// One large value does not make all of a bucket coarse.
TEST(Int8CodecTest, EveryBlockHasItsOwnScale) {
  constexpr std::size_t kBlock = Int8Codec::kBlock;
  std::vector<float> values = RandomValues(3 * kBlock + 1);
  values[kBlock + 7] = 1e6F;
  const std::vector<float> decoded = RoundTrip(*BareCodec("int8"), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_coarse = i / kBlock == 1;
    ASSERT_NEAR(decoded[i], values[i], is_coarse ? 1e6F / 127 : 5e-2F / 127) << i;
  }
  EXPECT_EQ(decoded.back(), values.back()) << "alone in its block";
  values[kBlock + 7] = std::nanf("");
  const std::vector<float> damaged = RoundTrip(*BareCodec("int8"), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::isnan(damaged[i]), i / kBlock == 1) << i;
  }
}

TEST(Int8CodecTest, AValueThatIsNotFiniteMakesAllOfThemNaN) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
    std::vector<float> values = RandomValues(500);
    values[0] = 0;
    values[321] = value;
    const std::vector<float> decoded = RoundTrip(*BareCodec("int8"), values);
    EXPECT_TRUE(std::ranges::all_of(decoded, [](float d) { return std::isnan(d); })) << value;
  }
}

TEST(Int8CodecTest, AScaleThatNobodyEncodesIsDamage) {
  const auto codec = BareCodec("int8");
  std::vector<std::byte> bytes = Encode(*codec, RandomValues(100));
  for (const float scale : {-1.0F, std::numeric_limits<float>::infinity()}) {
    std::memcpy(bytes.data(), &scale, sizeof(scale));
    EXPECT_NE(codec->Validate({bytes, 100}), "") << scale;
  }
}

TEST(NeverLongerCodecTest, SoFewThatEncodingSavesNothingAreExact) {
  const std::vector<float> one{0.3F};
  const std::vector<float> three{0.3F, -0.2F, 0.1F};
  for (const std::string text : {"int8", "sign", "topk:0.6"}) {
    EXPECT_EQ(BareCodec(text)->EncodedBytes(1), sizeof(float)) << text;
    EXPECT_EQ(RoundTrip(*BareCodec(text), one), one) << text;
    for (std::size_t count = 0; count < 100; ++count) {
      EXPECT_LE(WireBytes(OptionsOf(text), count), count * sizeof(float)) << text;
    }
  }
  EXPECT_EQ(RoundTrip(*BareCodec("topk:0.6"), three), three);
  EXPECT_NE(RoundTrip(*BareCodec("sign"), three), three);
}

TEST(Int8CodecTest, TheSmallestFloatsAreLostWithoutHarm) {
  const std::vector<float> values(100, std::numeric_limits<float>::denorm_min());
  for (const float value : RoundTrip(*BareCodec("int8"), values)) EXPECT_GE(value, 0.0F);
}

TEST(SignCodecTest, DecodesToSignTimesMeanMagnitude) {
  std::vector<float> values(101);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -2.0F : 2.0F;
  const auto codec = BareCodec("sign");
  EXPECT_EQ(RoundTrip(*codec, values), values);
  const std::vector<float> mixed{-1, 3, -5, 3};
  EXPECT_EQ(RoundTrip(*codec, mixed), (std::vector<float>{-3, 3, -3, 3}));
}

/// Computes the same by sorting all values.
std::vector<std::uint32_t> Largest(std::span<const float> values, std::size_t count) {
  static LargestMagnitudes selection;  // one for all calls, so that its memory is used again
  const std::span<const std::uint32_t> indices = selection.Select(values, count);
  return {indices.begin(), indices.end()};
}

std::vector<std::uint32_t> LargestBySorting(std::span<const float> values, std::size_t count) {
  std::vector<std::uint32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::ranges::stable_sort(
      indices, [&](auto a, auto b) { return std::abs(values[a]) > std::abs(values[b]); });
  indices.resize(count);
  std::ranges::sort(indices);
  return indices;
}

TEST(TopKCodecTest, SelectsExactlyTheLargest) {
  for (const std::size_t count : {1, 2, 100, 4096, 70'000}) {
    std::vector<float> values = RandomValues(count);
    for (std::size_t i = 0; i < count; i += 5) values[i] = 0.0125F;  // ties
    for (const double ratio : {0.0001, 0.01, 0.1, 0.5, 1.0}) {
      const std::size_t kept = TopKCodec(ratio).Kept(count);
      EXPECT_EQ(Largest(values, kept), LargestBySorting(values, kept)) << kept << " of " << count;
    }
  }
}

// A sample at regular distances would miss the large values.
TEST(TopKCodecTest, AMisleadingSampleChangesNothing) {
  std::vector<float> rising(100'000);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = i % 25 == 0 ? 1e6F : 1.0F;
  EXPECT_EQ(Largest(rising, 5000), LargestBySorting(rising, 5000));
  const std::vector<float> equal(100'000, 1.0F);
  EXPECT_EQ(Largest(equal, 1000), LargestBySorting(equal, 1000));
}

TEST(TopKCodecTest, KeepsCeilOfTheRatioAndAtLeastOne) {
  EXPECT_EQ(TopKCodec(0.01).Kept(0), 0U);
  EXPECT_EQ(TopKCodec(0.01).Kept(1), 1U);
  EXPECT_EQ(TopKCodec(0.01).Kept(100), 1U);
  EXPECT_EQ(TopKCodec(0.01).Kept(101), 2U);
  EXPECT_EQ(TopKCodec(1).Kept(101), 101U);
  EXPECT_EQ(TopKCodec(0.07).Kept(100), 7U) << "0.07 * 100 is above 7";
}

TEST(TopKCodecTest, KeepsValuesExactlyAcrossBlocks) {
  std::vector<float> values(200'000);
  for (const std::size_t index : {0, 65'535, 65'536, 131'071, 199'999}) {
    values[index] = static_cast<float>(index) + 0.1F;
  }
  const auto codec = BareCodec("topk:0.00003");  // six of them
  EXPECT_EQ(RoundTrip(*codec, values), values);
}

TEST(TopKCodecTest, AHundredthTakesLessThanATwentyFifth) {
  constexpr std::size_t kElements = 1 << 20;
  EXPECT_LT(25 * BareCodec("topk:0.01")->EncodedBytes(kElements), kElements * sizeof(float));
}

}  // namespace
}  // namespace ringside
