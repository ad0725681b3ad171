#ifndef RINGSIDE_PARAMSERVER_SHM_LINK_H_
#define RINGSIDE_PARAMSERVER_SHM_LINK_H_

#include <memory>
#include <span>
#include <string>

#include "paramserver/server_link.h"

namespace ringside {

/// Shared memory: the server maps the worker's flat vectors, sums straight from the gradients and
/// writes new parameters where they belong. Over the connection, a Unix domain socket, go small
/// packets that say which floats; its end tells at once that the other side has gone.
///
/// One thread a link takes the answers. `Sent` is told at once: nothing queues up.
class ShmLink : public ServerLink {
 public:
  /// Moves `space` into shared memory, at its address. Throws `MissingBackendError` when there is
  /// too little of it.
  ShmLink(int server, const ServerAddress& address, FlatSpace& space, const CommOptions& comm);
  /// Waits until the server has let the vectors go.
  ~ShmLink() override;

  const std::string& name() const override;
  void Start(const PlanInfo& plan) override;
  /// Spans outside the worker's space travel through memory made for the call.
  void Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
            CallObserver& observer) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SHM_LINK_H_
