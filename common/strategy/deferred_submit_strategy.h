#ifndef RINGSIDE_COMMON_STRATEGY_DEFERRED_SUBMIT_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_DEFERRED_SUBMIT_STRATEGY_H_

#include <algorithm>
#include <vector>

#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy and removes the overlap: it keeps the submitted buckets until `Release`. All
/// strategies use this class, so that runs with and without overlap differ in nothing else. Borrows
/// the strategy. Only the caller's thread uses it.
class DeferredSubmitStrategy : public StrategyDecorator {
 public:
  using StrategyDecorator::StrategyDecorator;

  void Submit(const Bucket& bucket) override { deferred_.push_back(bucket); }

  /// Releases the kept buckets first if `bucket` is one of them.
  void Await(const Bucket& bucket) override {
    const bool kept = std::ranges::any_of(
        deferred_, [&](const Bucket& other) { return other.index == bucket.index; });
    if (kept) Release();
    inner().Await(bucket);
  }

  /// Submits all kept buckets, in the order of their arrival, and awaits them.
  void Release() {
    for (const Bucket& bucket : deferred_) inner().Submit(bucket);
    for (const Bucket& bucket : deferred_) inner().Await(bucket);
    deferred_.clear();
  }

 private:
  std::vector<Bucket> deferred_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_DEFERRED_SUBMIT_STRATEGY_H_
