#ifndef RINGSIDE_COMMON_STRATEGY_DEFERRED_SUBMIT_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_DEFERRED_SUBMIT_STRATEGY_H_

#include <vector>

#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy and removes the overlap: keeps the submitted buckets until `Release`. One
/// implementation for all strategies, so that overlap on and off differ in nothing else. Borrows
/// the strategy; used by the caller's thread alone.
class DeferredSubmitStrategy : public StrategyDecorator {
 public:
  using StrategyDecorator::StrategyDecorator;

  void Submit(const Bucket& bucket) override { deferred_.push_back(bucket); }

  /// Submits all kept buckets, in the order in which they came, and awaits them.
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
