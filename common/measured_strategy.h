#ifndef RINGSIDE_COMMON_MEASURED_STRATEGY_H_
#define RINGSIDE_COMMON_MEASURED_STRATEGY_H_

#include "common/measure/timeline.h"
#include "common/strategy.h"

namespace ringside {

/// Wraps any strategy and measures what the caller pays for it: this is the one place where exposed
/// communication is measured, so all strategies are measured alike. Borrows its arguments; used by
/// the caller's thread alone.
class MeasuredStrategy : public Strategy {
 public:
  MeasuredStrategy(Strategy& inner, Timeline& timeline) : inner_(inner), timeline_(timeline) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void Settle() override { inner_.Settle(); }
  void ReadOptimizerState(std::span<float> out) override { inner_.ReadOptimizerState(out); }
  void Stop() override { inner_.Stop(); }

  struct Times {
    double submit_ms = 0;
    double await_ms = 0;
  };
  /// Spent since the call before; starts over.
  Times TakeTimes();

 private:
  Strategy& inner_;
  Timeline& timeline_;
  Times times_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURED_STRATEGY_H_
