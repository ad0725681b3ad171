#include "paramserver/grpc_listener.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <string>

#include "common/errors.h"
#include "paramserver/grpc_payload.h"
#include "paramserver/ps_service.h"

namespace ringside {
namespace {

/// How long Stop lets refused calls travel before it cuts connections.
constexpr std::chrono::milliseconds kStopGrace{200};

}  // namespace

class GrpcListener::Impl {
 public:
  Impl(const ServerContext& context, ShardTable& table) : service_(table, context.comm.token) {
    KeepGrpcRunning();
    if (context.options.ps_transport == PsTransport::kUds) {
      address_ = LocalAddress(PsTransport::kUds);
      Serve(UnixTarget(address_.address));
    } else {
      address_.address = Endpoint(context.comm.address, Serve(Endpoint(context.comm.address, 0)));
    }
    if (server_ == nullptr) {
      throw CommError("server " + std::to_string(context.index),
                      "listening on " + context.comm.address, "the address cannot be bound");
    }
  }

  ~Impl() { Stop(); }

  const ServerAddress& address() const { return address_; }

  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(GrpcDeadline(kStopGrace));
    server_->Wait();
    server_.reset();
  }

 private:
  int Serve(const std::string& target);

  PsService service_;
  ServerAddress address_;
  std::unique_ptr<grpc::Server> server_;
};

/// Returns the port; leaves `server_` null when the target cannot be bound.
int GrpcListener::Impl::Serve(const std::string& target) {
  grpc::ServerBuilder builder;
  for (const TransportArgument& argument : TransportArguments()) {
    builder.AddChannelArgument(argument.name, argument.value);
  }
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetDefaultCompressionLevel(GRPC_COMPRESS_LEVEL_NONE);
  builder.RegisterCallbackGenericService(&service_);
  int port = 0;
  builder.AddListeningPort(target, grpc::InsecureServerCredentials(), &port);
  server_ = builder.BuildAndStart();
  if (port == 0) server_.reset();
  return port;
}

GrpcListener::GrpcListener(const ServerContext& context, ShardTable& table)
    : impl_(std::make_unique<Impl>(context, table)) {}

GrpcListener::~GrpcListener() = default;

ServerAddress GrpcListener::address() const { return impl_->address(); }

void GrpcListener::Stop() { impl_->Stop(); }

}  // namespace ringside
