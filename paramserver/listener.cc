#include "paramserver/listener.h"

#include "common/errors.h"
#include "paramserver/grpc_listener.h"

namespace ringside {

std::unique_ptr<Listener> Listen(const ServerContext& context, ShardTable& table) {
  if (context.options.ps_transport == PsTransport::kShm) {
    throw MissingBackendError("this build has no shared-memory transport; use uds");
  }
  return std::make_unique<GrpcListener>(context, table);
}

}  // namespace ringside
