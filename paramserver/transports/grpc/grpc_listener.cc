#include "ringside/paramserver/transports/grpc/grpc_listener.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/front_door.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/transports/grpc/ps_service.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"

namespace ringside {
namespace {

/// How long `Stop` waits until refusals have arrived, before it closes connections.
constexpr std::chrono::milliseconds kStopGrace{200};
/// A connection that has not shown by then that it speaks HTTP/2 is closed.
constexpr int kHandshakeTimeoutMs = 9'000;
/// The most calls of a connection; a worker waits with further ones. A server has fewer slices,
/// even of a large model between hosts. So no push waits here for another one. `PsService` counts
/// all calls.
constexpr int kMostStreams = 1 << 16;

class GrpcListener : public Listener {
 public:
  GrpcListener(const ServerContext& context, ShardTable& table)
      : context_(context), table_(table), service_(table, context.comm.token) {
    KeepGrpcRunning();
  }
  ~GrpcListener() override { GrpcListener::Stop(); }

  /// One of these is called, once. They throw `CommError`.
  void ServeTcp(const TransportEntry& self);
  void ServeUds(const TransportEntry& self);

  ServerAddress address() const override { return address_; }
  void Stop() override;

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  void Prepare(grpc::ServerBuilder& builder);
  void Start(const std::shared_ptr<grpc::ServerCredentials>& credentials);
  FrontDoor::Admit PassOn() const;
  WaitingRoom::Judge MakeJudge() const;
  CommError CannotListen(const std::string& reason) const;

  const ServerContext& context_;
  ShardTable& table_;
  PsService service_;
  ServerAddress address_;
  std::unique_ptr<Acceptor> acceptor_;  // of the door
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<FrontDoor> door_;
};

void GrpcListener::Stop() {
  door_.reset();
  if (server_ == nullptr) return;
  server_->Shutdown(GrpcDeadline(kStopGrace));
  server_->Wait();
  server_.reset();
}

void GrpcListener::Prepare(grpc::ServerBuilder& builder) {
  for (const TransportArgument& argument : TransportArguments()) {
    builder.AddChannelArgument(argument.name, argument.value);
  }
  builder.SetMaxReceiveMessageSize(context_.comm.largest_message_bytes);
  // A link under TLS asks regularly whether the server lives, as it cannot cut its connections.
  if (!context_.comm.tls.empty()) {
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  }
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
  builder.SetDefaultCompressionLevel(GRPC_COMPRESS_LEVEL_NONE);
  builder.RegisterCallbackGenericService(&service_);
}

/// Under TLS gRPC asks for certificates itself.
WaitingRoom::Judge GrpcListener::MakeJudge() const {
  if (!context_.comm.tls.empty()) return BeginsAsTls();
  return ServerHandshake(ServerHandshake::Protocol::kGrpc, context_.comm.token, context_.workers,
                         context_.servers)
      .JudgeOf(context_.index);
}

CommError GrpcListener::CannotListen(const std::string& reason) const {
  return {"server " + std::to_string(context_.index), "listening on " + context_.comm.address,
          reason};
}

/// gRPC serves the connections that the door passes on.
void GrpcListener::Start(const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  grpc::ServerBuilder builder;
  Prepare(builder);
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) throw CannotListen("gRPC does not start");
}

FrontDoor::Admit GrpcListener::PassOn() const {
  return [this](int listener, WaitingRoom::Visitor visitor) {
    Acceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = visitor.socket.Release();
    acceptor_->HandleNewConnection(&connection);
  };
}

void GrpcListener::ServeTcp(const TransportEntry& self) {
  const std::string& tls = context_.comm.tls;
  Start(tls.empty() ? grpc::InsecureServerCredentials() : MakeTlsServerCredentials(TlsFiles(tls)));
  // Without TLS the judge admits only who has proved to know the token. Under TLS strangers get as
  // far as the handshake, so there is room for more of them.
  const std::size_t most = MostConnections(context_.workers);
  const FrontDoor::Options options{.most_admitted =
                                       tls.empty() ? most : std::max(MostStrangers(), most)};
  const auto admit = [this, greets = tls.empty(), pass_on = PassOn()](
                         int listener, WaitingRoom::Visitor visitor) {
    if (greets) table_.OnWorkerConnected(ServerHandshake::WorkerOf(visitor));
    pass_on(listener, std::move(visitor));
  };
  try {
    door_ = std::make_unique<FrontDoor>(context_.comm.address, 0, MakeJudge(), admit, options);
  } catch (const CommError& error) {
    throw CannotListen(error.reason());
  }
  address_ = {&self, door_->endpoint()};
}

void GrpcListener::ServeUds(const TransportEntry& self) {
  address_ = LocalAddress(self);
  Start(grpc::InsecureServerCredentials());
  const auto judge = [](const WaitingRoom::Visitor& visitor) {
    return IsOfThisUser(visitor.socket.get()) ? WaitingRoom::Verdict::kAdmit
                                              : WaitingRoom::Verdict::kRefuse;
  };
  const FrontDoor::Options options{.most_admitted = MostConnections(context_.workers)};
  try {
    door_ = std::make_unique<FrontDoor>(ListenStream(address_.address), address_.DisplayText(),
                                        judge, PassOn(), options);
  } catch (const CommError& error) {
    throw CannotListen(error.reason());
  }
}

}  // namespace

std::unique_ptr<Listener> ListenGrpcOverTcp(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table) {
  auto listener = std::make_unique<GrpcListener>(context, table);
  listener->ServeTcp(self);
  return listener;
}

std::unique_ptr<Listener> ListenGrpcOverUds(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table) {
  auto listener = std::make_unique<GrpcListener>(context, table);
  listener->ServeUds(self);
  return listener;
}

}  // namespace ringside
