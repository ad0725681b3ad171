#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_LINK_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_LINK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/flat_vector.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/transports/core/server_address.h"
#include "ringside/paramserver/wire/payload.h"
#include "ringside/paramserver/wire/refusal.h"
#include "ringside/paramserver/wire/server_plan.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

/// What a connection to a server is made with.
struct LinkSetup {
  int worker = 0;  ///< Its rank.
  int workers = 1;
  int servers = 1;
  /// The most unsent bytes of a connection in the kernel, where their order can no longer change.
  /// 0: no limit.
  std::size_t kernel_unsent = std::size_t{128} << 10;
  /// The connections of a transport that serves each connection on one thread at a time. With two,
  /// parameters can come in while gradients go out. One keeps the order of the calls.
  std::size_t connections = 2;
};

/// Learns what happens to a call. Called on threads of the transport, inside its locks. It must not
/// throw, block or call the link.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// These bytes no longer wait to be sent, so there is room for the next call. Called exactly once
  /// per call, before or after the outcome, but not because of the outcome. An answer may wait for
  /// another worker, and that worker's answer may wait for the next call here.
  virtual void Sent(std::size_t bytes) = 0;
  /// Exactly one of these two per call. `moved` counts the bytes copied here to receive the reply.
  virtual void Received(const FrameHeader& header, const CopyCount& moved) = 0;
  virtual void Failed(const CommError& error) = 0;
};

/// The floats of a call, and where they lie in the worker's space.
struct CallFloats {
  std::span<const float> out{};  ///< The request's payload.
  std::span<float> in{};         ///< The reply's payload is written here; exactly as long.
  /// Position of the slice's first element in the flat vectors, in elements.
  std::size_t offset = 0;
  FlatVector out_vector = FlatVector::kNone;  ///< The vector that `out` lies in, at `offset`.
  FlatVector in_vector = FlatVector::kNone;   ///< The vector that `in` lies in, at `offset`.
};

/// A worker's connection to one server. Any number of calls may be under way. Thread-safe.
/// Destruction cancels them and waits until all payloads are released, which takes moments.
class ServerLink {
 public:
  virtual ~ServerLink() = default;

  /// "server 0 at 127.0.0.1:4711", "server 0 over shm".
  virtual const std::string& name() const = 0;

  /// Blocks. Throws `CommError`.
  virtual void Start(const PlanInfo& plan) = 0;
  /// Starts a call and returns. A reply of another length than `floats.in` is a failure. The floats
  /// and `observer` must stay valid until the observer has been told both `Sent` and the outcome.
  virtual void Call(const FrameHeader& header, const CallFloats& floats,
                    CallObserver& observer) = 0;
  /// How often a connection was lost and made again. What had no answer was sent again, and the
  /// server has used it once.
  virtual int reconnects() const { return 0; }
};

/// A server reports missing workers at the timeout. Its answer may take this much longer.
inline constexpr std::chrono::milliseconds kAnswerGrace{500};

/// For the connection that takes the place of a lost one. A server that has ended refuses it at
/// once. The job learns of one that is silent only so much later.
inline constexpr std::chrono::milliseconds kReconnectTime{1000};
/// How often in turn a connection is made again over which no answer comes.
inline constexpr int kReconnectsInVain = 3;
/// For the error of a call when that many have been lost: the second half of a sentence.
std::string LostInVain();

/// Names the operation for errors: "pull of bucket 3, step 17".
std::string Describe(const FrameHeader& header);

/// The error of a refused call. If the refusal names no culprit, the server is to blame. Of the
/// codes only `kDiverged` matters here (`CommError::divergence`).
CommError RefusedByServer(const std::string& server, const std::string& operation,
                          const Refusal& refusal);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SERVER_LINK_H_
