#ifndef RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_GRPC_SERVED_TEST_H_
#define RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_GRPC_SERVED_TEST_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/tsan_handoff.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/strategies/ps_server.h"
#include "ringside/paramserver/transports/core/server_link.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

inline constexpr char kToken[] = "secret of the job";
inline constexpr std::size_t kElements = 8;

inline std::string Method(const char* name) {
  return std::string("/ringside.ParameterServer/") + name;
}

inline std::string Frame(const FrameHeader& header, const std::vector<float>& payload) {
  FrameHeader filled = header;
  filled.payload_bytes = payload.size() * sizeof(float);
  const auto bytes = EncodeHeader(filled);
  std::string frame(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  frame.append(reinterpret_cast<const char*>(payload.data()), payload.size() * sizeof(float));
  return frame;
}

inline std::vector<float> Ones() { return std::vector<float>(kElements, 1.0F); }

/// A call that is under way.
struct PendingCall {
  grpc::ClientContext context;
  grpc::ByteBuffer request, reply;
  std::promise<grpc::Status> status;
  TsanHandoff handoff;
};

struct Outcome {
  grpc::Status status;
  FrameHeader header;
  std::vector<float> payload;
};

/// A server over gRPC, and calls with any bytes.
class ServedTest : public ::testing::Test {
 protected:
  ServedTest() : schedule_({.base = 1.0}) { comm_.token = kToken; }

  /// A server of one bucket of kElements, with parameters zero.
  void Serve(int workers, bool started = true, const std::string& transport = "grpc") {
    server_.emplace(ServerContext{.index = 0,
                                  .servers = 1,
                                  .workers = workers,
                                  .store = store_,
                                  .comm = comm_,
                                  .optimizer = optimizer_,
                                  .schedule = schedule_,
                                  .timeline = timeline_},
                    transports_.Named(transport),
                    [this, workers] { return MakeSynchronous(workers, schedule_); });
    plan_ = {.worker = 0,
             .workers = static_cast<std::uint32_t>(workers),
             .server = 0,
             .servers = 1,
             .fingerprint = 99,
             .step = 0,
             .slices = {{.elements = kElements, .leads = true}}};
    address_ = transports_.ParseAddress(store_.Get("ps/0", Deadline::After(comm_.timeout)));
    endpoint_ = address_.address;
    link_ = transports_.Connect(0, address_, {.workers = workers}, space_, comm_);
    stub_.emplace(grpc::CreateInsecureChannelFromFd("server 0", Connect(workers).Release()));
    if (!started) return;
    link_->Start(plan_);
    EXPECT_TRUE(
        Call("Load", Frame({.kind = FrameKind::kLoad}, std::vector<float>(kElements))).status.ok());
  }

  static Deadline Later() { return Deadline::After(std::chrono::seconds(30)); }

  /// A connection that has shown this token. Throws `CommError`.
  FileDescriptor Greet(const std::string& token, int workers) const {
    FileDescriptor socket(ConnectTcp(endpoint_, Later()));
    ServerHandshake(ServerHandshake::Protocol::kGrpc, token, workers, 1)
        .Join(socket.get(), 0, 0, "server 0", Later());
    return socket;
  }

  /// A connection that has shown whatever the transport asks for.
  FileDescriptor Connect(int workers) const {
    const bool local = address_.transport->needs_one_host;
    return local ? FileDescriptor(ConnectStream(endpoint_, Later())) : Greet(kToken, workers);
  }

  /// Whether the server closes the connection without a byte before.
  static bool IsEnded(const FileDescriptor& socket) {
    std::byte byte{};
    const Deadline deadline = Later();
    return !ReceiveAll(socket.get(), {&byte, 1}, deadline) && !deadline.expired();
  }

  std::unique_ptr<PendingCall> Begin(const std::string& method, const std::string& message,
                                     const std::optional<std::string>& token = kToken) {
    auto call = std::make_unique<PendingCall>();
    if (token) call->context.AddMetadata("ringside-token", *token);
    const grpc::Slice slice(message);
    call->request = grpc::ByteBuffer(&slice, 1);
    call->handoff.Pass();
    stub_->UnaryCall(&call->context, method, {}, &call->request, &call->reply,
                     [pending = call.get()](const grpc::Status& status) {
                       pending->handoff.Take();
                       pending->status.set_value(status);
                     });
    return call;
  }

  static Outcome End(PendingCall& call) {
    Outcome outcome{.status = call.status.get_future().get(), .header = {}, .payload = {}};
    grpc::Slice slice;
    if (!outcome.status.ok() || !call.reply.DumpToSingleSlice(&slice).ok()) return outcome;
    const auto bytes = std::as_bytes(std::span(slice.begin(), slice.size()));
    if (DecodeHeader(bytes, bytes.size(), outcome.header) != FrameError::kNone) return outcome;
    if (outcome.header.payload_bytes == 0) return outcome;
    outcome.payload.resize(outcome.header.payload_bytes / sizeof(float));
    std::memcpy(outcome.payload.data(), bytes.data() + FrameHeader::kBytes,
                outcome.header.payload_bytes);
    return outcome;
  }

  Outcome Call(const char* method, const std::string& message,
               const std::optional<std::string>& token = kToken) {
    return End(*Begin(Method(method), message, token));
  }

  Outcome Push(const FrameHeader& header, const std::vector<float>& gradient = Ones()) {
    return Call("PushPull", Frame(header, gradient));
  }

  /// Every refusal must leave a server that serves, with its state unchanged.
  void ExpectStillServing(float parameter) {
    const Outcome pull = Call("Pull", Frame({.kind = FrameKind::kPull}, {}));
    ASSERT_TRUE(pull.status.ok()) << pull.status.error_message();
    EXPECT_EQ(pull.payload, std::vector<float>(kElements, parameter));
  }

  InProcessStore store_;
  CommOptions comm_;
  OptimizerOptions optimizer_;
  const Schedule schedule_;
  Timeline timeline_;
  PlanInfo plan_;
  const TransportTable transports_;
  std::optional<PsServer> server_;
  ServerAddress address_;
  std::string endpoint_;
  FlatSpace space_{0};
  std::unique_ptr<ServerLink> link_;
  std::optional<grpc::GenericStub> stub_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_TRANSPORTS_GRPC_SERVED_TEST_H_
