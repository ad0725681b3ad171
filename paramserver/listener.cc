#include "paramserver/listener.h"

#include "paramserver/grpc_listener.h"
#include "paramserver/shm_listener.h"

namespace ringside {

std::unique_ptr<Listener> Listen(const ServerContext& context, ShardTable& table) {
  if (context.options.ps_transport == PsTransport::kShm) {
    return std::make_unique<ShmListener>(context, table);
  }
  return std::make_unique<GrpcListener>(context, table);
}

}  // namespace ringside
