#include "ringside/paramserver/wire/checksum.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <vector>

namespace ringside {
namespace {

FrameHeader SampleHeader() {
  return {.worker = 1, .slice = 9, .bucket = 2, .step = 7, .version = 6, .payload_bytes = 1000};
}

std::vector<std::byte> SampleBytes() {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * 37 & 0xff);
  return bytes;
}

TEST(Checksum, DoesNotDependOnThePieces) {
  const std::vector<std::byte> bytes = SampleBytes();
  const std::uint32_t whole = ChecksumOf(SampleHeader(), OwnedPayload(bytes).pieces());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::vector<std::size_t> cuts{cut / 3, cut};
    EXPECT_EQ(ChecksumOf(SampleHeader(), OwnedPayload(bytes, cuts).pieces()), whole) << cut;
  }
}

TEST(Checksum, ChangesWithEveryBitOfThePayload) {
  std::vector<std::byte> bytes = SampleBytes();
  std::set<std::uint32_t> checksums{ChecksumOf(SampleHeader(), OwnedPayload(bytes).pieces())};
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1U << bit % 8)};
    bytes[bit / 8] ^= mask;
    checksums.insert(ChecksumOf(SampleHeader(), OwnedPayload(bytes).pieces()));
    bytes[bit / 8] ^= mask;
  }
  EXPECT_EQ(checksums.size(), 8 * bytes.size() + 1);
}

TEST(Checksum, ChangesWithEveryFieldOfTheHeader) {
  const std::vector<std::byte> bytes = SampleBytes();
  std::vector<FrameHeader> headers(8, SampleHeader());
  headers[1].worker = 0;
  headers[2].slice = 8;
  headers[3].bucket = 3;
  headers[4].step = 8;
  headers[5].version = 5;
  headers[6].learning_rate = 0.5;
  headers[7].payload_bytes = 1001;
  std::set<std::uint32_t> checksums;
  for (const FrameHeader& header : headers) {
    checksums.insert(ChecksumOf(header, OwnedPayload(bytes).pieces()));
  }
  EXPECT_EQ(checksums.size(), headers.size());
}

TEST(Checksum, LeavesItselfOut) {
  FrameHeader header = SampleHeader();
  const OwnedPayload payload{SampleBytes()};
  header.checksum = ChecksumOf(header, payload.pieces());
  EXPECT_EQ(ChecksumOf(header, payload.pieces()), header.checksum);
  header.repeats = 2;
  EXPECT_EQ(ChecksumOf(header, payload.pieces()), header.checksum) << "and the number of repeats";
}

}  // namespace
}  // namespace ringside
