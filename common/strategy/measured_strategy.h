#ifndef RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_

#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy and measures the time that its calls take. Exposed communication is measured
/// only here, so all strategies are measured in the same way. Borrows its arguments. Only the
/// caller's thread uses it.
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
