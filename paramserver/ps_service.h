#ifndef RINGSIDE_PARAMSERVER_PS_SERVICE_H_
#define RINGSIDE_PARAMSERVER_PS_SERVICE_H_

// Private to the .cc files of this folder that speak gRPC.

#include <grpcpp/generic/async_generic_service.h>

#include <string>

#include "paramserver/shard_table.h"

namespace ringside {

/// The gRPC side of a server: takes calls apart, asks the `ShardTable`, answers. A call that waits
/// for other workers holds memory and no thread. The token is checked before a request's body is
/// read. Borrows its arguments. Thread-safe.
class PsService : public grpc::CallbackGenericService {
 public:
  PsService(ShardTable& table, const std::string& token) : table_(table), token_(token) {}

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;

 private:
  bool Authentic(const grpc::GenericCallbackServerContext& context) const;

  ShardTable& table_;
  const std::string& token_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PS_SERVICE_H_
