#ifndef RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_

#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy and measures what the caller pays for it: this is the one place where exposed
/// communication is measured, so all strategies are measured alike. Borrows its arguments; used by
/// the caller's thread alone.
class MeasuredStrategy : public StrategyDecorator {
 public:
  MeasuredStrategy(Strategy& inner, Timeline& timeline)
      : StrategyDecorator(inner), timeline_(timeline) {}

  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;

  struct Times {
    double submit_ms = 0;
    double await_ms = 0;
  };
  /// Returns the times since the last call and resets them.
  Times TakeTimes();

 private:
  Timeline& timeline_;
  Times times_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_
