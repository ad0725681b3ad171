#ifndef RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_
#define RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ringside/common/measure/activity.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {

/// Wraps any strategy, measures the time that its calls take, and says when the caller waits in
/// one. Exposed communication is measured
/// only here, so all strategies are measured in the same way. Borrows its arguments. Only the
/// caller's thread uses it.
class MeasuredStrategy : public StrategyDecorator {
 public:
  MeasuredStrategy(Strategy& inner, Timeline& timeline, ActivityBoard& activity)
      : StrategyDecorator(inner), timeline_(timeline), activity_(activity) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;

  struct Times {
    double submit_ms = 0;
    double await_ms = 0;
  };
  /// Returns the times since the last call and resets them.
  Times TakeTimes();

  /// The caller begins to compute a step at `now`. `TakeTimes` was called before.
  void BeginCompute(Timeline::Clock::time_point now);
  /// For each bucket: the time from the last `BeginCompute` to its Submit, without the time inside
  /// calls. Infinite for a bucket that was not submitted since then. In milliseconds.
  std::span<const double> submitted_ms() const { return submitted_ms_; }

 private:
  /// The first step that cannot begin before the bucket is there.
  std::int64_t NeededIn(const Bucket& bucket) const;

  Timeline& timeline_;
  ActivityBoard& activity_;
  Times times_;
  Timeline::Clock::time_point compute_begin_;
  std::vector<double> submitted_ms_;          // by bucket
  std::vector<std::int64_t> submitted_step_;  // by bucket; -1: not yet
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_MEASURED_STRATEGY_H_
