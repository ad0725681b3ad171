#include "ringside/paramserver/wire/wire.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>

namespace ringside {
namespace {

FrameHeader Sample() {
  return {.kind = FrameKind::kReadState,
          .worker = 1,
          .slice = 9,
          .bucket = 2,
          .part = 3,
          .step = std::int64_t{1} << 40,
          .version = -5,
          .staleness = 6,
          .dropped = true,
          .payload_bytes = 700,
          .repeats = 8};
}

TEST(FrameHeader, SurvivesTheWire) {
  FrameHeader header;
  ASSERT_EQ(DecodeHeader(EncodeHeader(Sample()), 756, header), FrameError::kNone);
  EXPECT_EQ(header.kind, FrameKind::kReadState);
  EXPECT_EQ(header.worker, 1U);
  EXPECT_EQ(header.slice, 9U);
  EXPECT_EQ(header.bucket, 2U);
  EXPECT_EQ(header.part, 3U);
  EXPECT_EQ(header.step, std::int64_t{1} << 40);
  EXPECT_EQ(header.version, -5);
  EXPECT_EQ(header.staleness, 6);
  EXPECT_TRUE(header.dropped);
  EXPECT_EQ(header.payload_bytes, 700U);
  EXPECT_EQ(header.repeats, 8);
}

/// The documented layout, byte by byte where it matters to another implementation.
TEST(FrameHeader, HasTheDocumentedLayout) {
  const auto bytes = EncodeHeader(Sample());
  const auto at = [&](std::size_t i) { return std::to_integer<int>(bytes[i]); };
  EXPECT_EQ(bytes.size(), 56U);
  EXPECT_EQ(at(0), 'R');
  EXPECT_EQ(at(3), 'S');
  EXPECT_EQ(at(4), 5);   // protocol: another layout needs another number
  EXPECT_EQ(at(6), 4);   // kind
  EXPECT_EQ(at(8), 1);   // worker
  EXPECT_EQ(at(12), 9);  // slice
  EXPECT_EQ(at(16), 2);  // bucket
  EXPECT_EQ(at(20), 3);  // part
  EXPECT_EQ(at(22), 1);  // flags
  EXPECT_EQ(at(23), 8);  // repeats
  EXPECT_EQ(at(29), 1);  // step
  EXPECT_EQ(at(32), 0xfb);
  EXPECT_EQ(at(40), 6);
  EXPECT_EQ(at(48), 700 % 256);
  EXPECT_EQ(at(52), 0);
}

TEST(FrameHeader, CountsTheRepeatsOfPushesUpToTheMost) {
  FrameHeader push{.kind = FrameKind::kPushPull};
  CountRepeat(push);
  EXPECT_EQ(push.repeats, 1);
  push.repeats = FrameHeader::kMostRepeats - 1;
  CountRepeat(push);
  EXPECT_EQ(push.repeats, FrameHeader::kMostRepeats);
  CountRepeat(push);
  EXPECT_EQ(push.repeats, FrameHeader::kMostRepeats) << "and not 0, which is a first push";
  FrameHeader pull{.kind = FrameKind::kPull};
  CountRepeat(pull);
  EXPECT_EQ(pull.repeats, 0);
}

TEST(FrameHeader, AChecksumLiesAtTheEnd) {
  FrameHeader push = Sample();
  push.checksum = 0x04030201;
  const auto bytes = EncodeHeader(push);
  EXPECT_EQ(std::to_integer<int>(bytes[22]), 8 + 1);
  EXPECT_EQ(std::to_integer<int>(bytes[52]), 1);
  EXPECT_EQ(std::to_integer<int>(bytes[55]), 4);
  FrameHeader header;
  ASSERT_EQ(DecodeHeader(bytes, 756, header), FrameError::kNone);
  EXPECT_EQ(header.checksum, push.checksum);
  EXPECT_EQ(header.payload_bytes, 700U);
  EXPECT_TRUE(header.dropped);
  ASSERT_EQ(DecodeHeader(EncodeHeader(Sample()), 756, header), FrameError::kNone);
  EXPECT_FALSE(header.checksum);
}

TEST(FrameHeader, ARateTakesThePlaceOfTheStaleness) {
  FrameHeader push = Sample();
  push.learning_rate = 0.0;
  push.staleness = 0;
  FrameHeader header;
  ASSERT_EQ(DecodeHeader(EncodeHeader(push), 756, header), FrameError::kNone);
  EXPECT_EQ(header.learning_rate, 0.0) << "a rate of 0 is a rate";
  push.learning_rate = 0.125;
  ASSERT_EQ(DecodeHeader(EncodeHeader(push), 756, header), FrameError::kNone);
  EXPECT_EQ(header.learning_rate, 0.125);
  EXPECT_EQ(header.staleness, 0);
  EXPECT_TRUE(header.dropped);
  EXPECT_EQ(std::to_integer<int>(EncodeHeader(push)[22]), 4 + 1);
  ASSERT_EQ(DecodeHeader(EncodeHeader(Sample()), 756, header), FrameError::kNone);
  EXPECT_FALSE(header.learning_rate);
}

TEST(FrameHeader, AnAnswerHasNothingThatOnlyAPushHas) {
  FrameHeader push = Sample();
  push.learning_rate = 0.5;
  push.checksum = 7;
  const FrameHeader answer = AnswerTo(push);
  EXPECT_FALSE(answer.learning_rate);
  EXPECT_FALSE(answer.checksum);
  EXPECT_EQ(answer.repeats, 0);
  EXPECT_EQ(answer.slice, push.slice);
}

TEST(FrameHeader, FlagsDoNotHideEachOther) {
  for (const bool dropped : {false, true}) {
    for (const bool refused : {false, true}) {
      const auto bytes = EncodeHeader({.dropped = dropped, .refused = refused});
      EXPECT_EQ(std::to_integer<int>(bytes[22]), (dropped ? 1 : 0) + (refused ? 2 : 0));
      FrameHeader header;
      ASSERT_EQ(DecodeHeader(bytes, header), FrameError::kNone);
      EXPECT_EQ(header.dropped, dropped);
      EXPECT_EQ(header.refused, refused);
    }
  }
}

TEST(FrameHeader, InAStreamSaysHowLongTheMessageIs) {
  FrameHeader header;
  ASSERT_EQ(DecodeHeader(EncodeHeader(Sample()), header), FrameError::kNone);
  EXPECT_EQ(header.payload_bytes, 700U);
  EXPECT_EQ(header.slice, 9U);
  const auto decode = [&](std::uint64_t payload_bytes) {
    return DecodeHeader(EncodeHeader({.payload_bytes = payload_bytes}), header);
  };
  EXPECT_EQ(decode(FrameHeader::kMaxPayload), FrameError::kNone);
  EXPECT_EQ(decode(FrameHeader::kMaxPayload + 1), FrameError::kBadLength);
  EXPECT_EQ(decode(~std::uint64_t{0}), FrameError::kBadLength);
  auto damaged = EncodeHeader(Sample());
  damaged[0] ^= std::byte{1};
  EXPECT_EQ(DecodeHeader(damaged, header), FrameError::kBadMagic);
}

TEST(FrameHeader, RefusesWhatIsNotOurs) {
  const auto good = EncodeHeader(Sample());
  const auto error_with = [&](std::size_t offset, int value) {
    auto bytes = good;
    bytes[offset] = std::byte(value);
    FrameHeader header;
    return DecodeHeader(bytes, 756, header);
  };
  EXPECT_EQ(error_with(0, 'X'), FrameError::kBadMagic);
  EXPECT_EQ(error_with(4, 1), FrameError::kBadProtocol);
  EXPECT_EQ(error_with(6, 0), FrameError::kBadKind);
  EXPECT_EQ(error_with(6, 6), FrameError::kNone);
  EXPECT_EQ(error_with(6, 7), FrameError::kBadKind);
  EXPECT_EQ(error_with(48, 1), FrameError::kBadLength);
  FrameHeader header;
  EXPECT_EQ(DecodeHeader(good, 757, header), FrameError::kBadLength);
  EXPECT_EQ(DecodeHeader(std::span(good).first(55), 756, header), FrameError::kTooShort);
}

TEST(FrameHeader, RefusesGarbage) {
  std::mt19937 random(3);
  for (int round = 0; round < 10'000; ++round) {
    std::array<std::byte, 64> bytes;
    for (std::byte& byte : bytes) byte = std::byte(random() & 0xff);
    FrameHeader header;
    EXPECT_NE(DecodeHeader(std::span(bytes).first(random() % 65), 64, header), FrameError::kNone);
  }
}

}  // namespace
}  // namespace ringside
