#include "ringside/paramserver/transports/grpc/grpc_listener.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "ringside/common/core/errors.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/transports/grpc/ps_service.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"

namespace ringside {
namespace {

/// How long `Stop` waits until refusals have arrived, before it closes connections.
constexpr std::chrono::milliseconds kStopGrace{200};
/// A connection that has not shown by then that it speaks the protocol is closed.
constexpr int kHandshakeTimeoutMs = 10'000;

class GrpcListener : public Listener {
 public:
  GrpcListener(const ServerContext& context, ShardTable& table)
      : service_(table, context.comm.token),
        largest_message_bytes_(context.comm.largest_message_bytes) {
    KeepGrpcRunning();
  }
  ~GrpcListener() override { Stop(); }

  /// Serves at `target` and returns the port; 0: cannot bind to the target. Called once. `tls` is
  /// as in `CommOptions`.
  int Serve(const std::string& target, const std::string& tls = {});
  void set_address(ServerAddress address) { address_ = std::move(address); }

  ServerAddress address() const override { return address_; }
  void Stop() override;

 private:
  PsService service_;
  const int largest_message_bytes_;
  ServerAddress address_;
  std::unique_ptr<grpc::Server> server_;
};

void GrpcListener::Stop() {
  if (server_ == nullptr) return;
  server_->Shutdown(GrpcDeadline(kStopGrace));
  server_->Wait();
  server_.reset();
}

int GrpcListener::Serve(const std::string& target, const std::string& tls) {
  grpc::ServerBuilder builder;
  for (const TransportArgument& argument : TransportArguments()) {
    builder.AddChannelArgument(argument.name, argument.value);
  }
  builder.SetMaxReceiveMessageSize(largest_message_bytes_);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.SetDefaultCompressionLevel(GRPC_COMPRESS_LEVEL_NONE);
  builder.RegisterCallbackGenericService(&service_);
  int port = 0;
  // A link under TLS asks regularly whether the server lives, as it cannot cut its connections.
  if (!tls.empty()) builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddListeningPort(
      target,
      tls.empty() ? grpc::InsecureServerCredentials() : MakeTlsServerCredentials(TlsFiles(tls)),
      &port);
  server_ = builder.BuildAndStart();
  if (port == 0) server_.reset();
  return port;
}

CommError CannotBind(const ServerContext& context) {
  return {"server " + std::to_string(context.index), "listening on " + context.comm.address,
          "the address cannot be bound"};
}

}  // namespace

std::unique_ptr<Listener> ListenGrpcOverTcp(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table) {
  auto listener = std::make_unique<GrpcListener>(context, table);
  const int port = listener->Serve(Endpoint(context.comm.address, 0), context.comm.tls);
  if (port == 0) throw CannotBind(context);
  listener->set_address({&self, Endpoint(context.comm.address, port)});
  return listener;
}

std::unique_ptr<Listener> ListenGrpcOverUds(const TransportEntry& self,
                                            const ServerContext& context, ShardTable& table) {
  auto listener = std::make_unique<GrpcListener>(context, table);
  const ServerAddress address = LocalAddress(self);
  if (listener->Serve(UnixTarget(address.address)) == 0) throw CannotBind(context);
  listener->set_address(address);
  return listener;
}

}  // namespace ringside
