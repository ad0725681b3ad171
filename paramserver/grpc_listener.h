#ifndef RINGSIDE_PARAMSERVER_GRPC_LISTENER_H_
#define RINGSIDE_PARAMSERVER_GRPC_LISTENER_H_

#include <memory>

#include "paramserver/listener.h"

namespace ringside {

/// gRPC over TCP, on `context.comm.address` at a port of the kernel's choice, or over an abstract
/// Unix domain socket. Serves on gRPC's threads.
class GrpcListener : public Listener {
 public:
  GrpcListener(const ServerContext& context, ShardTable& table);
  ~GrpcListener() override;

  ServerAddress address() const override;
  void Stop() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_GRPC_LISTENER_H_
