#include "ringside/experiments/worker/counted_time.h"

#include "ringside/experiments/statistics/step_statistics.h"

namespace ringside {

void CountedTime::Begins(std::int64_t step, Clock::time_point now) {
  if (step > ended_) Ends(step - 1, now);
  begin_ = now;
}

void CountedTime::Ends(std::int64_t step, Clock::time_point now) {
  if (step < ended_) return;  // ended by the begin of the next one
  ended_ = step + 1;
  if (step < warmup_steps_) return;
  last_begin_ = begin_;
  const bool goes_on = !windows_.empty() && windows_.back().end == begin_;
  if (goes_on || windows_.size() == kMostWindows) {
    windows_.back().end = now;
  } else {
    windows_.push_back({begin_, now});
  }
}

std::vector<TimeWindow> CountedTime::Windows() const {
  std::vector<TimeWindow> windows = windows_;
  const auto steps = static_cast<std::size_t>(ended_);
  if (windows.empty() || TimedSteps(steps, warmup_steps_).end == steps) return windows;
  windows.back().end = last_begin_;  // without the last step
  if (windows.back().end <= windows.back().begin) windows.pop_back();
  return windows;
}

}  // namespace ringside
