#include "ringside/paramserver/transports/grpc/grpc_connection.h"

#include <fcntl.h>
#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"

namespace ringside {
namespace {

grpc::ChannelArguments Arguments(int largest_message_bytes) {
  grpc::ChannelArguments arguments;
  for (const TransportArgument& argument : TransportArguments()) {
    arguments.SetInt(argument.name, argument.value);
  }
  arguments.SetMaxReceiveMessageSize(largest_message_bytes);
  // Each link has its own connections. There is no proxy inside a job. The link itself repeats
  // calls.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetCompressionAlgorithm(GRPC_COMPRESS_NONE);
  return arguments;
}

/// Under TLS gRPC opens the sockets, so this side cannot cut them. Instead gRPC gives a connection
/// up whose peer answers nothing or takes no bytes, before an operation takes too long.
grpc::ChannelArguments TlsArguments(const CommOptions& comm) {
  constexpr std::chrono::milliseconds kShortest{1'000};
  const auto part = static_cast<int>(std::max(comm.timeout / 3, kShortest).count());
  grpc::ChannelArguments arguments = Arguments(comm.largest_message_bytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, part);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, part);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  return arguments;
}

}  // namespace

GrpcConnection::GrpcConnection(FileDescriptor socket, const std::string& target,
                               const CommOptions& comm)
    : file_(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0)), watch_(ConnectionWatch::Shared()) {
  if (file_ < 0) throw ResourceError("a second descriptor of a connection", errno);
  KeepGrpcRunning();
  stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomInsecureChannelFromFd(
      target, socket.Release(), Arguments(comm.largest_message_bytes)));
  watch_->Add(file_);
}

GrpcConnection::GrpcConnection(const TlsFiles& files, const std::string& target,
                               const CommOptions& comm, const Deadline& deadline)
    : file_(-1) {
  KeepGrpcRunning();
  const auto channel =
      grpc::CreateCustomChannel(target, MakeTlsChannelCredentials(files), TlsArguments(comm));
  if (!channel->WaitForConnected(GrpcDeadline(deadline.remaining()))) {
    throw CommError(target, "connecting", "no connection under TLS came about in time");
  }
  stub_ = std::make_unique<grpc::GenericStub>(channel);
}

GrpcConnection::~GrpcConnection() {
  if (file_ < 0) return;
  watch_->Remove(file_);
  close(file_);
}

void GrpcConnection::Cut() const {
  if (file_ >= 0) shutdown(file_, SHUT_RDWR);
}

}  // namespace ringside
