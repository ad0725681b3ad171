#include "paramserver/grpc_payload.h"

#include <grpc/grpc.h>

#include <array>
#include <limits>
#include <utility>

namespace ringside {
namespace {

// gRPC's limits are ints: 2 GiB less a byte.
constexpr int kMaxMessage = std::numeric_limits<int>::max();
constexpr int kMaxFrame = (1 << 24) - 1;  // the most that HTTP/2 has
constexpr int kLookahead = 4 << 20;       // a bucket of the default size

grpc::Slice HeaderSlice(const FrameHeader& header) {
  const auto bytes = EncodeHeader(header);
  return {bytes.data(), bytes.size()};
}

grpc::Slice BorrowedSlice(std::span<const float> values, void (*released)(void*), void* argument) {
  // gRPC takes a mutable pointer and only reads.
  return {const_cast<float*>(values.data()), values.size_bytes(), released, argument};
}

}  // namespace

const char* MethodOf(FrameKind kind) {
  switch (kind) {
    case FrameKind::kPushPull:
      return kPushPullMethod;
    case FrameKind::kLoad:
      return kLoadMethod;
    case FrameKind::kPull:
      return kPullMethod;
    case FrameKind::kReadState:
      return kReadStateMethod;
    case FrameKind::kStart:
      return kStartMethod;
    case FrameKind::kRetire:
      return kRetireMethod;
  }
  return "";
}

GrpcPayload::GrpcPayload(std::vector<grpc::Slice> slices, std::size_t header_bytes)
    : slices_(std::move(slices)) {
  pieces_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    const Piece piece = std::as_bytes(std::span(slice.begin(), slice.size()));
    const std::size_t skip = std::min(header_bytes, piece.size());
    header_bytes -= skip;
    if (skip < piece.size()) pieces_.push_back(piece.subspan(skip));
  }
}

FrameError ParseFrame(const grpc::ByteBuffer& message, FrameHeader& header,
                      std::unique_ptr<const Payload>& payload) {
  std::vector<grpc::Slice> slices;
  if (message.Length() < FrameHeader::kBytes || !message.Dump(&slices).ok()) {
    return FrameError::kTooShort;
  }
  std::array<std::byte, FrameHeader::kBytes> bytes;
  std::size_t filled = 0;
  for (auto slice = slices.begin(); filled < bytes.size() && slice != slices.end(); ++slice) {
    const std::size_t take = std::min(slice->size(), bytes.size() - filled);
    const auto from = std::as_bytes(std::span(slice->begin(), take));
    std::copy(from.begin(), from.end(), bytes.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += take;
  }
  const FrameError error = DecodeHeader(bytes, message.Length(), header);
  if (error == FrameError::kNone) {
    payload = std::make_unique<GrpcPayload>(std::move(slices), FrameHeader::kBytes);
  }
  return error;
}

grpc::ByteBuffer MakeFrame(const FrameHeader& header, ParameterRef parameters) {
  auto* reference = new ParameterRef(std::move(parameters));
  return MakeFrame(
      header, reference->values(), [](void* held) { delete static_cast<ParameterRef*>(held); },
      reference);
}

grpc::ByteBuffer MakeFrame(const FrameHeader& header, std::span<const float> payload,
                           void (*released)(void*), void* argument) {
  if (payload.empty()) {
    released(argument);
    const grpc::Slice slice = HeaderSlice(header);
    return {&slice, 1};
  }
  const std::array slices{HeaderSlice(header), BorrowedSlice(payload, released, argument)};
  return {slices.data(), slices.size()};
}

void KeepGrpcRunning() {
  [[maybe_unused]] static const bool kept = [] {
    grpc_init();
    return true;
  }();
}

gpr_timespec GrpcDeadline(std::chrono::milliseconds after) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(after.count(), GPR_TIMESPAN));
}

std::string Endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::string UnixTarget(const std::string& name) { return "unix-abstract:" + name; }

std::span<const TransportArgument> TransportArguments() {
  static constexpr std::array kArguments{
      TransportArgument{GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, kMaxMessage},
      TransportArgument{GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, kMaxMessage},
      // A bucket in one frame, and room for one before it is asked for: fewer headers and window
      // updates, some per cent less CPU than gRPC's 16 KiB and 64 KiB.
      TransportArgument{GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrame},
      TransportArgument{GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookahead},
  };
  return kArguments;
}

}  // namespace ringside
