#ifndef RINGSIDE_EXPERIMENTS_JOB_WATCH_PROGRESS_H_
#define RINGSIDE_EXPERIMENTS_JOB_WATCH_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "ringside/common/measure/recorder.h"

namespace ringside {

/// The progress line of a run: steps, samples per second and remaining time from the last seconds,
/// and the loss. Used by one thread.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Adds steps of rank `rank` that arrived at `now`.
  void Add(int rank, std::span<const StepRecord> steps, Clock::time_point now = Clock::now());
  /// Without it the line has no total.
  void set_total_steps(std::int64_t steps) { total_steps_ = steps; }
  bool has_total() const { return total_steps_ > 0; }

  /// "step 120/500  831 samples/s  loss 0.1234  12 s left"; "starting" before the first step.
  std::string Line() const;

 private:
  struct Arrival {
    Clock::time_point at;
    std::int64_t samples;  // of all ranks, since the start
    std::int64_t step;     // steps done by rank 0
  };

  std::int64_t total_steps_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t steps_done_ = 0;
  std::optional<double> loss_;
  std::deque<Arrival> recent_;
};

/// A duration as text: "45 s", "3 min 20 s", "2 h 5 min".
std::string DurationText(double seconds);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_WATCH_PROGRESS_H_
