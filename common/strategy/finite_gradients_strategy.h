#ifndef RINGSIDE_COMMON_STRATEGY_FINITE_GRADIENTS_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_FINITE_GRADIENTS_STRATEGY_H_

#include <optional>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/finite.h"
#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy and lets no gradient through that is infinite or not a number: `Submit`
/// throws `DivergedError`, which names the worker, the bucket and the step, and nothing is sent.
/// Borrows the strategy. Only the caller's thread uses it.
class FiniteGradientsStrategy : public StrategyDecorator {
 public:
  FiniteGradientsStrategy(Strategy& inner, int rank) : StrategyDecorator(inner), rank_(rank) {}

  void Submit(const Bucket& bucket) override {
    if (const std::optional<std::size_t> index = FirstNotFinite(bucket.grads)) {
      throw DivergedError("the gradient of worker " + std::to_string(rank_) + " for parameter " +
                              std::to_string(bucket.offset + *index) + " in bucket " +
                              std::to_string(bucket.index) + " is " +
                              std::to_string(bucket.grads[*index]) + " at step " +
                              std::to_string(bucket.step),
                          rank_, bucket.step);
    }
    inner().Submit(bucket);
  }

 private:
  const int rank_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_FINITE_GRADIENTS_STRATEGY_H_
