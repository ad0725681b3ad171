#ifndef RINGSIDE_PARAMSERVER_REFUSAL_H_
#define RINGSIDE_PARAMSERVER_REFUSAL_H_

#include <string>
#include <utility>

#include "common/errors.h"

namespace ringside {

/// Why a server does not do what a request asks. Each becomes one status code of the transport.
enum class RefusalCode {
  kInvalid,       ///< Malformed: magic, protocol, kind, lengths.
  kOutOfRange,    ///< No such worker, bucket or part.
  kDuplicate,     ///< Has been done already.
  kPrecondition,  ///< Wrong plan, step or version, or not started yet.
  kLate,          ///< Others were missing until the deadline.
  kAborted,       ///< The job has failed; the message says who.
};

struct Refusal {
  RefusalCode code = RefusalCode::kAborted;
  std::string message;
  /// Who is to blame when it is not the server ("worker 2"); empty otherwise.
  std::string culprit;
};

/// Thrown inside a server with its state unchanged; handlers turn it into a status.
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

#endif  // RINGSIDE_PARAMSERVER_REFUSAL_H_
