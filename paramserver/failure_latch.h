#ifndef RINGSIDE_PARAMSERVER_FAILURE_LATCH_H_
#define RINGSIDE_PARAMSERVER_FAILURE_LATCH_H_

#include <mutex>
#include <optional>

#include "common/errors.h"

namespace ringside {

/// The first failure of a strategy, which is the cause; what follows is its echo. Thread-safe.
class FailureLatch {
 public:
  void Set(const CommError& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  bool failed() const {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  /// Throws the first failure, if there was one.
  void Check() const {
    const std::lock_guard lock(mutex_);
    if (error_) throw CommError(*error_);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<CommError> error_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_FAILURE_LATCH_H_
