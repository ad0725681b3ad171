#include "paramserver/ps_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "common/errors.h"
#include "paramserver/grpc_payload.h"
#include "paramserver/ps_service.h"

namespace ringside {
namespace {

/// How long Stop lets refused calls travel before it cuts connections.
constexpr std::chrono::milliseconds kStopGrace{200};

std::chrono::milliseconds WatchInterval(std::chrono::milliseconds timeout) {
  return std::clamp(timeout / 20, std::chrono::milliseconds(1), std::chrono::milliseconds(100));
}

}  // namespace

class PsServer::Impl {
 public:
  Impl(const ServerContext& context, ShardTable::MakeConsistency make_consistency)
      : context_(context),
        table_(context, std::move(make_consistency)),
        service_(table_, context.comm.token) {
    Listen();
    watchdog_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  }

  ~Impl() { Stop(); }

  ServerReport Stop() {
    if (grpc_server_ != nullptr) {
      table_.Fail({RefusalCode::kAborted, Name() + " is stopping", Name()});
      grpc_server_->Shutdown(GrpcDeadline(kStopGrace));
      grpc_server_->Wait();
      grpc_server_.reset();
      watchdog_ = {};
    }
    const ShardCounters counters = table_.counters();
    return {.bytes_received = counters.bytes_received,
            .bytes_sent = counters.bytes_sent,
            .staleness = counters.staleness,
            .updates = counters.updates,
            .dropped_pushes = counters.dropped};
  }

  ShardCounters counters() const { return table_.counters(); }

 private:
  std::string Name() const { return "server " + std::to_string(context_.index); }
  void Listen();
  void Watch(const std::stop_token& stop);

  const ServerContext context_;
  ShardTable table_;
  PsService service_;
  std::unique_ptr<grpc::Server> grpc_server_;
  std::jthread watchdog_;
};

void PsServer::Impl::Listen() {
  KeepGrpcRunning();
  grpc::ServerBuilder builder;
  for (const TransportArgument& argument : TransportArguments()) {
    builder.AddChannelArgument(argument.name, argument.value);
  }
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetDefaultCompressionLevel(GRPC_COMPRESS_LEVEL_NONE);
  builder.RegisterCallbackGenericService(&service_);
  int port = 0;
  builder.AddListeningPort(Endpoint(context_.comm.address, 0), grpc::InsecureServerCredentials(),
                           &port);
  grpc_server_ = builder.BuildAndStart();
  if (grpc_server_ == nullptr || port == 0) {
    throw CommError(Name(), "listening on " + context_.comm.address, "the address cannot be bound");
  }
  context_.store.Set("ps/" + std::to_string(context_.index), Endpoint(context_.comm.address, port));
}

// Pushes of all shards are looked at every so often: late ones are found within the timeout and one
// interval, at no cost to a push.
void PsServer::Impl::Watch(const std::stop_token& stop) {
  const auto interval = WatchInterval(context_.comm.timeout);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    table_.FailExpired(Deadline::Clock::now());
  }
}

PsServer::PsServer(const ServerContext& context, ShardTable::MakeConsistency make_consistency)
    : impl_(std::make_unique<Impl>(context, std::move(make_consistency))) {}

PsServer::~PsServer() = default;

ServerReport PsServer::Stop() { return impl_->Stop(); }

ShardCounters PsServer::counters() const { return impl_->counters(); }

}  // namespace ringside
