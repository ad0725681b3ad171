#ifndef RINGSIDE_COMMON_CORE_FAILURE_LATCH_H_
#define RINGSIDE_COMMON_CORE_FAILURE_LATCH_H_

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace ringside {

/// Keeps the first failure, of any type. The first failure is the cause; later ones are its
/// consequences and are dropped. It is never cleared. Thread-safe. Without a failure, `Check` and
/// `failed` take no lock.
class FailureLatch {
 public:
  /// Keeps `failure` if it is the first. Not null.
  void Set(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failed()) return;
    failure_ = std::move(failure);
    failed_.store(true, std::memory_order_release);
  }
  /// Keeps a copy of `error`, with its type.
  template <typename Error>
  void Set(const Error& error) {
    Set(std::make_exception_ptr(error));
  }

  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Throws the first failure, if there was one.
  void Check() const {
    if (failed()) std::rethrow_exception(failure_);  // which no longer changes
  }

  /// Throws the first failure, if there was one. Otherwise runs `body` and returns its result. If
  /// `body` throws, keeps the exception and throws the first failure, which may come from another
  /// thread.
  template <typename Body>
  decltype(auto) Guard(Body&& body) {
    Check();
    try {
      return std::forward<Body>(body)();
    } catch (...) {
      Set(std::current_exception());
      std::rethrow_exception(failure_);
    }
  }

 private:
  std::mutex mutex_;  // of those that set
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_FAILURE_LATCH_H_
