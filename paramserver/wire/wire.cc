#include "ringside/paramserver/wire/wire.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little);

// The header as it lies on the wire: no padding, every field on a multiple of its size.
struct RawHeader {
  std::uint32_t magic;
  std::uint16_t protocol;
  std::uint16_t kind;
  std::uint32_t worker;
  std::uint32_t slice;
  std::uint32_t bucket;
  std::uint16_t part;
  std::uint8_t flags;
  std::uint8_t repeats;
  std::int64_t step;
  std::int64_t version;
  std::int64_t staleness_or_rate;
  std::uint32_t payload_bytes;
  std::uint32_t checksum;
};
static_assert(sizeof(RawHeader) == FrameHeader::kBytes);

constexpr std::uint8_t kDroppedFlag = 1;
constexpr std::uint8_t kRefusedFlag = 2;
constexpr std::uint8_t kRateFlag = 4;
constexpr std::uint8_t kChecksumFlag = 8;
constexpr std::uint16_t kKinds = 6;
// What every reader refuses.
constexpr std::uint64_t kTooManyBytes = std::numeric_limits<std::uint32_t>::max();
static_assert(kTooManyBytes > FrameHeader::kMaxPayload);

std::uint8_t FlagsOf(const FrameHeader& header) {
  return static_cast<std::uint8_t>(
      (header.dropped ? kDroppedFlag : 0) | (header.refused ? kRefusedFlag : 0) |
      (header.learning_rate ? kRateFlag : 0) | (header.checksum ? kChecksumFlag : 0));
}

// No message has both.
std::int64_t StalenessOrRateOf(const FrameHeader& header) {
  if (!header.learning_rate) return header.staleness;
  return std::bit_cast<std::int64_t>(*header.learning_rate);
}

}  // namespace

const char* FrameErrorText(FrameError error) {
  switch (error) {
    case FrameError::kNone:
      return "no error";
    case FrameError::kTooShort:
      return "the message is shorter than a header";
    case FrameError::kBadMagic:
      return "the message does not start with the magic number";
    case FrameError::kBadProtocol:
      return "the message is of another protocol version";
    case FrameError::kBadKind:
      return "the message is of a kind that does not exist";
    case FrameError::kBadLength:
      return "the payload is not as long as the header says";
  }
  return "unknown";
}

FrameHeader AnswerTo(FrameHeader request) {
  request.learning_rate.reset();
  request.checksum.reset();
  request.repeats = 0;
  return request;
}

void CountRepeat(FrameHeader& request) {
  if (request.kind != FrameKind::kPushPull) return;
  if (request.repeats < FrameHeader::kMostRepeats) ++request.repeats;
}

std::array<std::byte, FrameHeader::kBytes> EncodeHeader(const FrameHeader& header) {
  const RawHeader raw{
      .magic = FrameHeader::kMagic,
      .protocol = FrameHeader::kProtocol,
      .kind = static_cast<std::uint16_t>(header.kind),
      .worker = header.worker,
      .slice = header.slice,
      .bucket = header.bucket,
      .part = header.part,
      .flags = FlagsOf(header),
      .repeats = header.repeats,
      .step = header.step,
      .version = header.version,
      .staleness_or_rate = StalenessOrRateOf(header),
      .payload_bytes = static_cast<std::uint32_t>(std::min(header.payload_bytes, kTooManyBytes)),
      .checksum = header.checksum.value_or(0)};
  return std::bit_cast<std::array<std::byte, FrameHeader::kBytes>>(raw);
}

FrameError DecodeHeader(std::span<const std::byte> bytes, std::uint64_t message_bytes,
                        FrameHeader& header) {
  if (bytes.size() < FrameHeader::kBytes) return FrameError::kTooShort;
  RawHeader raw;
  std::memcpy(&raw, bytes.data(), sizeof(raw));
  if (raw.magic != FrameHeader::kMagic) return FrameError::kBadMagic;
  if (raw.protocol != FrameHeader::kProtocol) return FrameError::kBadProtocol;
  if (raw.kind < 1 || raw.kind > kKinds) return FrameError::kBadKind;
  if (raw.payload_bytes != message_bytes - FrameHeader::kBytes) return FrameError::kBadLength;
  const bool has_rate = (raw.flags & kRateFlag) != 0;
  std::optional<double> rate;
  if (has_rate) rate = std::bit_cast<double>(raw.staleness_or_rate);
  std::optional<std::uint32_t> checksum;
  if ((raw.flags & kChecksumFlag) != 0) checksum = raw.checksum;
  header = {.kind = static_cast<FrameKind>(raw.kind),
            .worker = raw.worker,
            .slice = raw.slice,
            .bucket = raw.bucket,
            .part = raw.part,
            .step = raw.step,
            .version = raw.version,
            .staleness = has_rate ? 0 : raw.staleness_or_rate,
            .learning_rate = rate,
            .dropped = (raw.flags & kDroppedFlag) != 0,
            .refused = (raw.flags & kRefusedFlag) != 0,
            .payload_bytes = raw.payload_bytes,
            .checksum = checksum,
            .repeats = raw.repeats};
  return FrameError::kNone;
}

FrameError DecodeHeader(std::span<const std::byte, FrameHeader::kBytes> bytes,
                        FrameHeader& header) {
  std::uint32_t payload_bytes = 0;
  std::memcpy(&payload_bytes, &bytes[offsetof(RawHeader, payload_bytes)], sizeof(payload_bytes));
  if (payload_bytes > FrameHeader::kMaxPayload) return FrameError::kBadLength;
  return DecodeHeader(bytes, FrameHeader::kBytes + payload_bytes, header);
}

}  // namespace ringside
