#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_PAYLOAD_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_PAYLOAD_H_

// Private to the .cc files of this folder that speak gRPC.

#include <grpc/support/time.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/paramserver/wire/parameter_buffer.h"
#include "ringside/paramserver/wire/payload_pool.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

inline constexpr char kStartMethod[] = "/ringside.ParameterServer/Start";
inline constexpr char kLoadMethod[] = "/ringside.ParameterServer/Load";
inline constexpr char kPushPullMethod[] = "/ringside.ParameterServer/PushPull";
inline constexpr char kPullMethod[] = "/ringside.ParameterServer/Pull";
inline constexpr char kReadStateMethod[] = "/ringside.ParameterServer/ReadState";
inline constexpr char kRetireMethod[] = "/ringside.ParameterServer/Retire";
inline constexpr char kTokenKey[] = "ringside-token";
/// Of a refusal because the job goes on without the worker that asks.
inline constexpr grpc::StatusCode kDroppedStatus = grpc::StatusCode::PERMISSION_DENIED;
/// Of a refusal because a gradient is not finite.
inline constexpr grpc::StatusCode kDivergedStatus = grpc::StatusCode::DATA_LOSS;

/// The method for frames of this kind.
const std::string& MethodOf(FrameKind kind);

/// The payload of a received frame: the slices that gRPC received, without the header. Keeps the
/// slices alive and copies nothing.
class GrpcPayload : public Payload {
 public:
  GrpcPayload() { pieces_.reserve(16); }

  /// Splits a received message into header and payload. After an error the payload must not be
  /// used.
  FrameError Assign(const grpc::ByteBuffer& message, FrameHeader& header);
  std::span<const Piece> pieces() const override { return pieces_; }
  void Clear();

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<Piece> pieces_;
};

/// A message whose payload points into `parameters`. The message keeps them alive.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, ParameterRef parameters);
/// A message whose payload points at `payload`. When gRPC no longer has a pointer into it,
/// `released(argument)` is called, on any thread. An empty payload is released before this function
/// returns.
grpc::ByteBuffer MakeFrame(const FrameHeader& header, std::span<const float> payload,
                           void (*released)(void*), void* argument);

/// Keeps gRPC initialised until the process ends. Otherwise the end of the last channel or server
/// shuts the library down. That can wait up to ten seconds for a poller whose connection has
/// broken, so a worker that lost its server would not end in time.
void KeepGrpcRunning();

/// The time `after` from now, on the monotonic clock. So a changed wall clock ends no call.
gpr_timespec GrpcDeadline(std::chrono::milliseconds after);

/// "unix-abstract:NAME".
std::string UnixTarget(const std::string& name);

/// A channel argument of gRPC.
struct TransportArgument {
  const char* name;
  int value;
};
/// The arguments for both ends of a connection. The .cc gives the reasons.
std::span<const TransportArgument> TransportArguments();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_PAYLOAD_H_
