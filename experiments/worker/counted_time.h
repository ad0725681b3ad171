#ifndef RINGSIDE_EXPERIMENTS_WORKER_COUNTED_TIME_H_
#define RINGSIDE_EXPERIMENTS_WORKER_COUNTED_TIME_H_

#include <cstdint>
#include <vector>

#include "ringside/experiments/job/fidelity/time_window.h"

namespace ringside {

/// When the counted steps of a worker ran, on the machine's clock: `TimedSteps` of its own steps. A
/// pause between two steps, as for an evaluation, begins a new window. Steps have indices from 0,
/// in the order in which they run. A step may begin before the end of the one before is told; it
/// ends that one. Not thread-safe.
class CountedTime {
 public:
  using Clock = TimeWindow::Clock;

  /// With more windows than these, pauses are inside the last one.
  static constexpr std::size_t kMostWindows = 1000;

  explicit CountedTime(std::int64_t warmup_steps) : warmup_steps_(warmup_steps) {}

  void Begins(std::int64_t step, Clock::time_point now = Clock::now());
  void Ends(std::int64_t step, Clock::time_point now = Clock::now());

  std::vector<TimeWindow> Windows() const;

 private:
  const std::int64_t warmup_steps_;
  std::int64_t ended_ = 0;           // steps
  Clock::time_point begin_;          // of the step that runs
  Clock::time_point last_begin_;     // of the last counted step that ended
  std::vector<TimeWindow> windows_;  // with the last step
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_COUNTED_TIME_H_
