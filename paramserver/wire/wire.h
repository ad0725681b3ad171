#ifndef RINGSIDE_PARAMSERVER_WIRE_WIRE_H_
#define RINGSIDE_PARAMSERVER_WIRE_WIRE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ringside {

/// The kind of a frame. A frame header stands before a payload of floats, in requests and in
/// replies. Layout in paramserver/wire/README.md; all numbers little-endian.
enum class FrameKind : std::uint16_t {
  kPushPull = 1,   ///< Sends a gradient, receives parameters.
  kLoad = 2,       ///< Sends initial parameters or optimizer state, receives nothing.
  kPull = 3,       ///< Sends nothing, receives parameters.
  kReadState = 4,  ///< Sends nothing, receives optimizer state.
  kStart = 5,      ///< A `StartRequest`, for transports without methods.
  kRetire = 6,     ///< Sends and receives nothing: no more pushes until the next barrier.
};

struct FrameHeader {
  static constexpr std::size_t kBytes = 56;
  static constexpr std::uint32_t kMagic = 0x53505352;  // "RSPS"
  static constexpr std::uint16_t kProtocol = 5;
  static constexpr std::uint8_t kMostRepeats = 255;
  static constexpr std::uint64_t kMaxPayload = (std::uint64_t{2} << 30) - 1 - kBytes;

  FrameKind kind = FrameKind::kPushPull;
  std::uint32_t worker = 0;
  std::uint32_t slice = 0;     ///< `SlicePlan::slice`: which part of the model.
  std::uint32_t bucket = 0;    ///< Of the slice.
  std::uint16_t part = 0;      ///< 0: parameters; v: state vector v - 1.
  std::int64_t step = 0;       ///< 0-based; in a retire and a pull: number of barriers (README.md).
  std::int64_t version = 0;    ///< Request: of the gradient's parameters; reply: of those sent.
  std::int64_t staleness = 0;  ///< Reply: updates applied between the two versions.
  /// Push: of its update, if the worker decides that and not the servers' schedule.
  std::optional<double> learning_rate = {};
  bool dropped = false;  ///< Reply: the gradient came too late to be used.
  bool refused = false;  ///< Reply over a stream: the payload is a `Refused`.
  std::uint64_t payload_bytes = 0;
  std::optional<std::uint32_t> checksum = {};  ///< Push: `ChecksumOf` it.
  /// Push: how often it was sent before, over connections that were lost; `kMostRepeats`: so often
  /// or more. If not 0, the server may have used it already.
  std::uint8_t repeats = 0;
};

/// What can be wrong in a received header.
enum class FrameError { kNone, kTooShort, kBadMagic, kBadProtocol, kBadKind, kBadLength };
const char* FrameErrorText(FrameError error);

/// The header of an answer to `request`: without what only a push has.
FrameHeader AnswerTo(FrameHeader request);
/// The request is sent once more, because its connection was lost. Only pushes count that.
void CountRepeat(FrameHeader& request);

std::array<std::byte, FrameHeader::kBytes> EncodeHeader(const FrameHeader& header);
/// Reads the header from `bytes`, the first bytes of a message of `message_bytes`. Fills `header`
/// unless there is an error.
FrameError DecodeHeader(std::span<const std::byte> bytes, std::uint64_t message_bytes,
                        FrameHeader& header);
/// The same for a stream of bytes. There the header alone says how long the message is. The payload
/// is at most `FrameHeader::kMaxPayload` bytes.
FrameError DecodeHeader(std::span<const std::byte, FrameHeader::kBytes> bytes, FrameHeader& header);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_WIRE_H_
