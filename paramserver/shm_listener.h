#ifndef RINGSIDE_PARAMSERVER_SHM_LISTENER_H_
#define RINGSIDE_PARAMSERVER_SHM_LISTENER_H_

#include <memory>

#include "paramserver/listener.h"

namespace ringside {

/// The server's side of shared memory (`ShmLink`). Every thread of its own takes the next packet of
/// any worker, so sums of several buckets go on at once; there are as many as cores.
///
/// Before anything is mapped the other side must be a process of the same user that knows the
/// token. Ranges are checked against what is mapped before they are used.
class ShmListener : public Listener {
 public:
  ShmListener(const ServerContext& context, ShardTable& table);
  ~ShmListener() override;

  ServerAddress address() const override;
  void Stop() override;
  void CloseSilent(Deadline::Clock::time_point now) override;
  CopyCount copies() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SHM_LISTENER_H_
