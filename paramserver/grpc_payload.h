#ifndef RINGSIDE_PARAMSERVER_GRPC_PAYLOAD_H_
#define RINGSIDE_PARAMSERVER_GRPC_PAYLOAD_H_

// Private to the .cc files of this folder that speak gRPC.

#include <grpc/support/time.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "paramserver/parameter_buffer.h"
#include "paramserver/payload.h"
#include "paramserver/wire.h"

namespace ringside {

inline constexpr char kStartMethod[] = "/ringside.ParameterServer/Start";
inline constexpr char kLoadMethod[] = "/ringside.ParameterServer/Load";
inline constexpr char kPushPullMethod[] = "/ringside.ParameterServer/PushPull";
inline constexpr char kPullMethod[] = "/ringside.ParameterServer/Pull";
inline constexpr char kReadStateMethod[] = "/ringside.ParameterServer/ReadState";
inline constexpr char kRetireMethod[] = "/ringside.ParameterServer/Retire";
inline constexpr char kTokenKey[] = "ringside-token";

/// The method that frames of this kind are sent to.
const char* MethodOf(FrameKind kind);

/// The payload of a received frame: the slices as gRPC received them, header left out. Keeps them
/// alive; copies nothing.
class GrpcPayload : public Payload {
 public:
  GrpcPayload(std::vector<grpc::Slice> slices, std::size_t header_bytes);
  std::span<const Piece> pieces() const override { return pieces_; }

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<Piece> pieces_;
};

/// Takes a received message apart. On error `payload` is null.
FrameError ParseFrame(const grpc::ByteBuffer& message, FrameHeader& header,
                      std::unique_ptr<const Payload>& payload);

/// A message whose payload points into `parameters`, which it keeps alive.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, ParameterRef parameters);
/// A message whose payload points at `payload`; `released(argument)` is called, on any thread, when
/// gRPC holds no pointer into it any more. An empty payload is released before this returns.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, std::span<const float> payload,
                           void (*released)(void*), void* argument);

/// Keeps gRPC initialised until the process ends. Otherwise the last channel or server to go takes
/// the library down with it, and that waits up to ten seconds for a poller whose connection has
/// broken: whoever lost a server would not be gone in time.
void KeepGrpcRunning();

/// From now, on the monotonic clock, so that a stepped wall clock ends no call.
gpr_timespec GrpcDeadline(std::chrono::milliseconds after);

/// "127.0.0.1:80", "[::1]:80".
std::string Endpoint(const std::string& address, int port);
/// "unix-abstract:NAME".
std::string UnixTarget(const std::string& name);

/// A channel argument of gRPC.
struct TransportArgument {
  const char* name;
  int value;
};
/// What both ends of a connection set alike, and why (in the .cc).
std::span<const TransportArgument> TransportArguments();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_GRPC_PAYLOAD_H_
