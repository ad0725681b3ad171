#ifndef RINGSIDE_PARAMSERVER_WIRE_REFUSAL_H_
#define RINGSIDE_PARAMSERVER_WIRE_REFUSAL_H_

#include <string>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {

/// Why a server refuses a request. Each becomes one status code of the transport.
enum class RefusalCode {
  kInvalid,       ///< Malformed: magic, protocol, kind, lengths.
  kOutOfRange,    ///< No such worker, bucket or part.
  kDuplicate,     ///< The request has been done already.
  kPrecondition,  ///< Wrong plan, step or version, or not started yet.
  kLate,          ///< Others were missing until the deadline.
  kDropped,       ///< The job goes on without the worker that asks.
  kDiverged,      ///< A gradient is not finite; the message says which one and nothing else.
  kAborted,       ///< The job has failed; the message names the member.
};

struct Refusal {
  RefusalCode code = RefusalCode::kAborted;
  std::string message;
  /// The process to blame ("worker 2"), if it is not the server; otherwise empty.
  std::string culprit;
};

/// Thrown inside a server, whose state has not changed. Handlers turn it into a status.
class RefusedError : public Error {
 public:
  RefusedError(RefusalCode code, const std::string& message)
      : RefusedError(Refusal{code, message, {}}) {}
  explicit RefusedError(Refusal refusal) : Error(refusal.message), refusal_(std::move(refusal)) {}

  const Refusal& refusal() const { return refusal_; }

 private:
  Refusal refusal_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_REFUSAL_H_
