#ifndef RINGSIDE_COMMON_STRATEGY_STRATEGY_DECORATOR_H_
#define RINGSIDE_COMMON_STRATEGY_STRATEGY_DECORATOR_H_

#include <span>
#include <vector>

#include "ringside/common/strategy/strategy.h"

namespace ringside {

/// Passes every call on to another strategy. A derived class overrides the calls that it changes.
/// `inner()` returns the other strategy, which is borrowed. As thread-safe as the inner strategy.
class StrategyDecorator : public Strategy {
 public:
  explicit StrategyDecorator(Strategy& inner) : inner_(inner) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override {
    inner_.Start(space, plan, from);
  }
  void Submit(const Bucket& bucket) override { inner_.Submit(bucket); }
  void Await(const Bucket& bucket) override { inner_.Await(bucket); }
  void Settle() override { inner_.Settle(); }
  void ReadOptimizerState(std::span<float> out) override { inner_.ReadOptimizerState(out); }
  std::vector<StateVector> State() override { return inner_.State(); }
  void Stop() override { inner_.Stop(); }

 protected:
  Strategy& inner() { return inner_; }

 private:
  Strategy& inner_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_STRATEGY_DECORATOR_H_
