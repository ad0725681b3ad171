#ifndef RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_POOL_H_
#define RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_POOL_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ringside/paramserver/wire/payload.h"

namespace ringside {

/// Takes back payloads that are no longer needed.
class PayloadKeeper {
 public:
  virtual ~PayloadKeeper() = default;
  virtual void Return(const Payload* payload) = 0;
};

/// Ends the use of a payload: gives it back to its keeper, or deletes it if it has none.
class PayloadReturn {
 public:
  PayloadReturn() = default;
  explicit PayloadReturn(std::shared_ptr<PayloadKeeper> keeper) : keeper_(std::move(keeper)) {}
  /// Makes a payload from `std::make_unique` convertible to `PayloadPtr`.
  template <typename P>
  PayloadReturn(std::default_delete<P>) {}  // NOLINT(google-explicit-constructor)

  void operator()(const Payload* payload) const {
    if (keeper_ == nullptr) {
      delete payload;
    } else {
      keeper_->Return(payload);
    }
  }

 private:
  std::shared_ptr<PayloadKeeper> keeper_;
};

/// Owns a payload and ends its use when destroyed.
using PayloadPtr = std::unique_ptr<const Payload, PayloadReturn>;

/// A pool of payloads that are reused, so that a step allocates none. `P::Clear()` releases the
/// content of a payload and keeps the memory for the next use. The pool lives as long as its last
/// payload. Thread-safe.
template <typename P>
class PayloadPool : public PayloadKeeper, public std::enable_shared_from_this<PayloadPool<P>> {
 public:
  static std::shared_ptr<PayloadPool> Make() {
    return std::shared_ptr<PayloadPool>(new PayloadPool);
  }

  /// A cleared payload, for the caller to fill.
  std::unique_ptr<P, PayloadReturn> Take() {
    std::unique_ptr<P> taken;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) Grow();
      taken = std::move(free_.back());
      free_.pop_back();
    }
    return {taken.release(), PayloadReturn(this->shared_from_this())};
  }

  void Return(const Payload* payload) override {
    std::unique_ptr<P> returned(static_cast<P*>(const_cast<Payload*>(payload)));
    returned->Clear();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(returned));  // there is room for all payloads ever made
  }

 private:
  PayloadPool() = default;

  // Adds several at a time. The number in use varies by chance, so a later step may need a few more
  // than the steps before it.
  void Grow() {
    constexpr std::size_t kMore = 16;
    made_ += kMore;
    free_.reserve(made_);
    while (free_.size() < kMore) free_.push_back(std::make_unique<P>());
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<P>> free_;
  std::size_t made_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_PAYLOAD_POOL_H_
