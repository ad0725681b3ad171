#ifndef RINGSIDE_PARAMSERVER_SERVER_LINK_H_
#define RINGSIDE_PARAMSERVER_SERVER_LINK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/errors.h"
#include "common/flat_space.h"
#include "common/strategy_entry.h"
#include "paramserver/payload.h"
#include "paramserver/send_windows.h"
#include "paramserver/server_address.h"
#include "paramserver/shard_table.h"
#include "paramserver/wire.h"

namespace ringside {

/// What hears of a call. Called on threads of the transport, from inside its locks: must not throw,
/// block or call the link.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// So many bytes wait to be sent no more: there is room for the next call. Exactly once a call,
  /// before or after the outcome, and never only because of it: an answer may wait for what another
  /// worker sends, and that one's for what is next here.
  virtual void Sent(std::size_t bytes) = 0;
  /// Exactly one of these a call. `moved`: what was copied here to receive the reply.
  virtual void Received(const FrameHeader& header, const CopyCount& moved) = 0;
  virtual void Failed(const CommError& error) = 0;
};

/// A worker's connection to one server. Any number of calls may be under way. Thread-safe.
/// Destruction cancels what is under way and waits until all payloads have been let go, which takes
/// moments.
class ServerLink {
 public:
  virtual ~ServerLink() = default;

  /// "server 0 at 127.0.0.1:4711", "server 0 over shm".
  virtual const std::string& name() const = 0;

  /// Blocks. Throws `CommError`.
  virtual void Start(const PlanInfo& plan) = 0;
  /// Starts a call and returns. The reply's payload is written to `in`, and one that is not exactly
  /// as long is a failure. `out`, `in` and `observer` stay until both `Sent` and the outcome have
  /// been told.
  virtual void Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
                    CallObserver& observer) = 0;
};

/// A server tells of missing workers at the timeout; this is what its answer may take on top.
inline constexpr std::chrono::milliseconds kAnswerGrace{500};

/// "pull of bucket 3, step 17": for errors.
std::string Describe(const FrameHeader& header);

/// `culprit` comes with the server's refusal where it knows one; otherwise it is to blame itself.
CommError RefusedByServer(const std::string& server, const std::string& operation,
                          const std::string& culprit, const std::string& message);

/// Connects a worker with this space over the server's transport. Throws `ConfigError` when that
/// needs both on one host and they are not, else `CommError`.
std::unique_ptr<ServerLink> ConnectToServer(int server, const ServerAddress& address,
                                            const ServerShare& share, FlatSpace& space,
                                            const CommOptions& comm);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_LINK_H_
