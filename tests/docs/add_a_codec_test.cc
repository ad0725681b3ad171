#include "add_a_codec.inc"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "ringside/common/codec/codec_table.h"

namespace ringside {
namespace {

std::vector<const CodecEntry*> TableWithTheExample() {
  std::vector<const CodecEntry*> table(BuiltinCodecs().begin(), BuiltinCodecs().end());
  table.push_back(&kTruncatingCodec);
  return table;
}

CodecOptions Chosen() {
  CodecOptions options;
  ParseCodec("truncate", TableWithTheExample(), options);
  return options;
}

std::vector<float> Decoded(Codec& codec, const std::vector<float>& values) {
  std::vector<std::byte> bytes(codec.EncodedBytes(values.size()));
  codec.Encode(values, {}, bytes);
  EXPECT_EQ(codec.Validate({bytes, values.size()}), "");
  std::vector<float> decoded(values.size());
  codec.Decode({bytes, values.size()}, 0, decoded);
  return decoded;
}

TEST(AddACodecTest, TheExampleOfThePageIsChosenByItsName) {
  EXPECT_EQ(Chosen().entry, &kTruncatingCodec);
  EXPECT_TRUE(UsesErrorFeedback(Chosen()));
  EXPECT_EQ(WireBytes(Chosen(), 100), 200U);
}

TEST(AddACodecTest, TheExampleKeepsSevenBitsOfTheMantissa) {
  TruncatingCodec codec;
  const std::vector<float> values{1.0F, -3.1415927F, 1e-20F, 12345.678F};
  const std::vector<float> decoded = Decoded(codec, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_LE(std::abs(decoded[i]), std::abs(values[i]));
    EXPECT_NEAR(decoded[i] / values[i], 1.0F, 0x1p-7F);
  }
}

TEST(AddACodecTest, ErrorFeedbackLosesNothingOfTheExample) {
  const auto codec = MakeCodec(Chosen(), 0, 1);
  const std::vector<float> value{1.0F + 0x1p-10F};
  double sum = 0;
  for (int step = 0; step < 1024; ++step) sum += Decoded(*codec, value)[0];
  EXPECT_NEAR(sum, 1024.0 * value[0], 0x1p-6);
}

TEST(AddACodecTest, TheExampleRefusesAWrongLength) {
  const std::array<std::byte, 3> bytes{};
  EXPECT_EQ(TruncatingCodec().Validate({bytes, 2}), "3 bytes came, not 4");
}

}  // namespace
}  // namespace ringside
