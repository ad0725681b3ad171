#ifndef RINGSIDE_PARAMSERVER_LISTENER_H_
#define RINGSIDE_PARAMSERVER_LISTENER_H_

#include <memory>

#include "common/deadline.h"
#include "common/strategy_entry.h"
#include "paramserver/payload.h"
#include "paramserver/server_address.h"
#include "paramserver/shard_table.h"

namespace ringside {

/// How a server is reached over one transport: takes calls, checks who calls, asks the
/// `ShardTable`, answers. A call that waits for other workers holds memory and no thread.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual ServerAddress address() const = 0;
  /// Stops serving; what the table has refused by then still reaches its worker. Idempotent.
  virtual void Stop() = 0;
  /// Closes connections whose other side has not said in time who it is, where the transport does
  /// not do so itself. Called every so often.
  virtual void CloseSilent(Deadline::Clock::time_point now) { (void)now; }
  /// Payload bytes that the transport's own code has moved.
  virtual CopyCount copies() const { return {}; }
};

/// Listens by `context.options.ps_transport`. Borrows its arguments, and from `context` what it
/// borrows. Throws `CommError` when the address cannot be listened on.
std::unique_ptr<Listener> Listen(const ServerContext& context, ShardTable& table);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_LISTENER_H_
