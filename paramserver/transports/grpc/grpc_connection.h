#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTION_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTION_H_

// Private to the .cc files of this folder that speak gRPC.

#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/transports/grpc/connection_watch.h"

namespace ringside {

/// A worker's connection to a server. It must not be destroyed on a thread of gRPC: its channel
/// would wait for that thread.
class GrpcConnection {
 public:
  /// Takes over a connected socket.
  GrpcConnection(FileDescriptor socket, const std::string& target, const CommOptions& comm);
  /// Connects under TLS. Throws `CommError`.
  GrpcConnection(const TlsFiles& files, const std::string& target, const CommOptions& comm,
                 const Deadline& deadline);
  ~GrpcConnection();
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  grpc::GenericStub& stub() { return *stub_; }
  /// Ends the channel. Payloads that gRPC still holds may be released later. Not on a thread of
  /// gRPC.
  void Close() { stub_.reset(); }
  /// Shuts the socket down. A cancelled call ends only when its write ends, and a server that is
  /// frozen with full buffers would delay that without limit. Under TLS it does nothing.
  void Cut() const;

  std::atomic<bool> has_answered{false};  ///< An answer has come over it.
  // For `GrpcConnections`, guarded by its mutex:
  int calls = 0;
  int payloads = 0;
  bool closed = false;

 private:
  const int file_;  // our own descriptor of gRPC's socket; -1 under TLS
  const std::shared_ptr<ConnectionWatch> watch_;  // of that socket
  std::unique_ptr<grpc::GenericStub> stub_;
};

/// Makes a connection, at most until the deadline. Throws `CommError`, and `ConfigError` for
/// certificates that cannot be used.
using MakeGrpcConnection =
    std::function<std::unique_ptr<GrpcConnection>(const Deadline& deadline, IfRefused if_refused)>;

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTION_H_
