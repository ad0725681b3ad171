#ifndef RINGSIDE_COMMON_HELD_BACK_STRATEGY_H_
#define RINGSIDE_COMMON_HELD_BACK_STRATEGY_H_

#include <span>
#include <vector>

#include "common/strategy.h"

namespace ringside {

/// Wraps any strategy and takes the overlap away: what a model submits is kept until `Release`. One
/// implementation for all strategies, so that overlap on and off differ in nothing else. Borrows
/// the strategy; used by the caller's thread alone.
class HeldBackStrategy : public Strategy {
 public:
  explicit HeldBackStrategy(Strategy& inner) : inner_(inner) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override {
    inner_.Start(space, plan, from);
  }
  void Submit(const Bucket& bucket) override { held_.push_back(bucket); }
  void Await(const Bucket& bucket) override { inner_.Await(bucket); }
  void Settle() override { inner_.Settle(); }
  void ReadOptimizerState(std::span<float> out) override { inner_.ReadOptimizerState(out); }
  void Stop() override { inner_.Stop(); }

  /// Submits all that was held back, in the order in which it came, and awaits it.
  void Release() {
    for (const Bucket& bucket : held_) inner_.Submit(bucket);
    for (const Bucket& bucket : held_) inner_.Await(bucket);
    held_.clear();
  }

 private:
  Strategy& inner_;
  std::vector<Bucket> held_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_HELD_BACK_STRATEGY_H_
