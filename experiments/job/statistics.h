#ifndef RINGSIDE_EXPERIMENTS_JOB_STATISTICS_H_
#define RINGSIDE_EXPERIMENTS_JOB_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/measure/recorder.h"
#include "experiments/statistics/quantile.h"

namespace ringside {

struct StepRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Which of a run's first `steps` steps its times are taken over. A step waits for the
/// communication of the step before it, so the first waits for none and the last for its own too:
/// with a warm-up, which leaves out the first, the last is left out as well if there are others.
StepRange TimedSteps(std::size_t steps, std::int64_t warmup_steps);

/// What the steps of all ranks after the warm-up say of a run, times those of `TimedSteps`. Absent
/// where there is no such step.
struct StepStatistics {
  std::int64_t steps = 0;                ///< Counted ones: those that every rank has done.
  std::optional<double> step_ms_median;  ///< Over steps, of the slowest rank of each step.
  std::optional<double> step_ms_p10;
  std::optional<double> step_ms_p90;
  std::optional<double> compute_ms;       ///< Median over steps of the mean over ranks.
  std::optional<double> forward_ms;       ///< Median over steps of the mean over ranks.
  std::optional<double> exposed_comm_ms;  ///< Median over steps of the mean over ranks.
  std::optional<double> submit_ms;        ///< Median over steps of the mean over ranks.
  std::optional<double> data_ms;          ///< Median over steps of the mean over ranks.
  std::optional<double> codec_ms;         ///< Median over steps of the mean over ranks.
  std::optional<double> straggler_ms;     ///< Mean over steps and ranks: most may have none.
  /// Samples of all ranks over the time of the rank that took longest.
  std::optional<double> samples_per_s;
  std::optional<double> final_loss;  ///< Mean over the samples of the last common step.
};

/// `ranks`: the records of each rank in order of steps. The first `warmup_steps` of the run, which
/// began at the lowest step there, are left out.
StepStatistics Summarize(std::span<const std::vector<StepRecord>> ranks, std::int64_t warmup_steps);

/// Mean over ranks and steps of the step time, over the last whole periods of `period` steps after
/// the warm-up; absent where there is none.
std::optional<double> MeanStepMs(std::span<const std::vector<StepRecord>> ranks,
                                 std::int64_t warmup_steps, std::int64_t period);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_STATISTICS_H_
