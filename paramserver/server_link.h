#ifndef RINGSIDE_PARAMSERVER_SERVER_LINK_H_
#define RINGSIDE_PARAMSERVER_SERVER_LINK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/errors.h"
#include "common/strategy_entry.h"
#include "paramserver/payload.h"
#include "paramserver/shard_table.h"
#include "paramserver/wire.h"

namespace ringside {

/// What hears of a call. Called on threads of gRPC, from inside its locks: must not throw, block or
/// call the link.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// The payload of so many bytes has left: the link holds no pointer into it any more. Exactly
  /// once a call, before or after the outcome.
  virtual void Sent(std::size_t bytes) = 0;
  /// Exactly one of these a call. `payload` lives until this returns.
  virtual void Received(const FrameHeader& header, const Payload& payload) = 0;
  virtual void Failed(const CommError& error) = 0;
};

/// A worker's connection to one server. Any number of calls may be under way. Thread-safe.
///
/// Every call has a deadline, a little past the operation's timeout, so that a server that knows
/// which worker is missing can say so first.
class ServerLink {
 public:
  ServerLink(int server, std::string endpoint, const CommOptions& comm);
  /// Cancels what is under way and waits until all payloads have been let go, which takes moments.
  ~ServerLink();

  /// "server 0 at 127.0.0.1:4711".
  const std::string& name() const;

  /// Blocks. Throws `CommError`.
  void Start(const PlanInfo& plan);
  /// Starts a call and returns. `payload` and `observer` stay until both `Sent` and the outcome
  /// have been told. A reply that has not exactly `reply_bytes` of payload is a failure.
  void Call(const FrameHeader& header, std::span<const float> payload, std::uint64_t reply_bytes,
            CallObserver& observer);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_LINK_H_
