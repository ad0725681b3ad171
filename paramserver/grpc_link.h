#ifndef RINGSIDE_PARAMSERVER_GRPC_LINK_H_
#define RINGSIDE_PARAMSERVER_GRPC_LINK_H_

#include <memory>
#include <span>
#include <string>

#include "paramserver/server_link.h"

namespace ringside {

/// gRPC over TCP or a Unix domain socket. `Sent` is told when the kernel has taken the payload.
///
/// Every call has a deadline, a little past the operation's timeout, so that a server that knows
/// which worker is missing can say so first.
class GrpcLink : public ServerLink {
 public:
  GrpcLink(int server, const ServerAddress& address, const ServerShare& share,
           const CommOptions& comm);
  ~GrpcLink() override;

  const std::string& name() const override;
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
            CallObserver& observer) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_GRPC_LINK_H_
