#include "ringside/paramserver/transports/grpc/grpc_payload.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace ringside {
namespace {

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

// The strings are kept, so that a call allocates none.
const std::string& MethodOf(FrameKind kind) {
  static const std::string start = kStartMethod, load = kLoadMethod, push_pull = kPushPullMethod,
                           pull = kPullMethod, read_state = kReadStateMethod,
                           retire = kRetireMethod;
  switch (kind) {
    case FrameKind::kPushPull:
      return push_pull;
    case FrameKind::kLoad:
      return load;
    case FrameKind::kPull:
      return pull;
    case FrameKind::kReadState:
      return read_state;
    case FrameKind::kRetire:
      return retire;
    case FrameKind::kStart:
      break;
  }
  return start;
}

FrameError GrpcPayload::Assign(const grpc::ByteBuffer& message, FrameHeader& header) {
  if (message.Length() < FrameHeader::kBytes || !message.Dump(&slices_).ok()) {
    return FrameError::kTooShort;
  }
  std::array<std::byte, FrameHeader::kBytes> bytes;
  std::size_t filled = 0;
  for (const grpc::Slice& slice : slices_) {
    const Piece piece = std::as_bytes(std::span(slice.begin(), slice.size()));
    const std::size_t take = std::min(piece.size(), bytes.size() - filled);
    std::copy_n(piece.begin(), take, bytes.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += take;
    if (take < piece.size()) pieces_.push_back(piece.subspan(take));
  }
  return DecodeHeader(bytes, message.Length(), header);
}

void GrpcPayload::Clear() {
  pieces_.clear();
  slices_.clear();
}

grpc::ByteBuffer MakeFrame(const FrameHeader& header, ParameterRef parameters) {
  const std::span<const float> values = parameters.values();
  return MakeFrame(header, values, ParameterRef::Drop, std::move(parameters).Detach());
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

std::string UnixTarget(const std::string& name) { return "unix-abstract:" + name; }

std::span<const TransportArgument> TransportArguments() {
  static constexpr std::array kArguments{
      TransportArgument{GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, std::numeric_limits<int>::max()},
      // A bucket fits into one frame and into the lookahead. That means fewer headers and window
      // updates, and some per cent less CPU than with gRPC's defaults of 16 KiB and 64 KiB.
      TransportArgument{GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxFrame},
      TransportArgument{GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLookahead},
  };
  return kArguments;
}

}  // namespace ringside
