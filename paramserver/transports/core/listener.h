#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_

#include <cstddef>

#include "ringside/common/base/deadline.h"
#include "ringside/paramserver/transports/core/server_address.h"
#include "ringside/paramserver/wire/payload.h"

namespace ringside {

/// The most connections that a server of so many workers takes over TCP or a Unix domain socket:
/// two of each worker, and some whose end is not noticed yet. Whoever repeats a greeting that he
/// has read gets no more of them.
constexpr std::size_t MostConnections(int workers) {
  constexpr std::size_t kSpare = 64;
  return 2 * static_cast<std::size_t>(workers) + kSpare;
}

/// The server's side of one transport: takes calls, checks the caller, asks the `ShardTable` and
/// answers. A call that waits for other workers takes memory but no thread.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual ServerAddress address() const = 0;
  /// Stops serving. Refusals that the table has already sent still reach their workers. Idempotent.
  virtual void Stop() = 0;
  /// Closes connections whose other side has not identified itself in time, if the transport does
  /// not do this itself. Called at regular intervals.
  virtual void CloseSilent(Deadline::Clock::time_point now) { (void)now; }
  /// Payload bytes that the transport's own code has copied.
  virtual CopyCount copies() const { return {}; }
  /// Bytes of memory that the transport's own code has for gradients, used or kept for later.
  virtual std::size_t gradient_memory() const { return 0; }
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_
