#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_

#include "ringside/common/core/deadline.h"
#include "ringside/paramserver/transports/core/server_address.h"
#include "ringside/paramserver/wire/payload.h"

namespace ringside {

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
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_LISTENER_H_
