#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_PS_SERVICE_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_PS_SERVICE_H_

// Private to the .cc files of this folder that speak gRPC.

#include <grpcpp/generic/async_generic_service.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/object_pool.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"

namespace ringside {

/// The gRPC service of a server: decodes calls, asks the `ShardTable` and answers. A call that
/// waits for other workers takes memory but no thread. The token is checked before the body of a
/// request is read, and so is the number of calls under way (`ShardTable::most_calls`). Borrows its
/// arguments. Thread-safe.
class PsService : public grpc::CallbackGenericService {
 public:
  PsService(ShardTable& table, const std::string& token);
  ~PsService() override;

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  class Call;

  bool Authentic(const grpc::GenericCallbackServerContext& context) const;

  ShardTable& table_;
  const std::string& token_;
  const std::shared_ptr<PayloadPool<GrpcPayload>> payloads_ = PayloadPool<GrpcPayload>::Make();
  ObjectPool<Call> calls_;
  std::atomic<std::size_t> open_calls_ = 0;  // of calls_
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_PS_SERVICE_H_
