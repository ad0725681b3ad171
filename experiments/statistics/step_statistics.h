#ifndef RINGSIDE_EXPERIMENTS_STATISTICS_STEP_STATISTICS_H_
#define RINGSIDE_EXPERIMENTS_STATISTICS_STEP_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/measure/recorder.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {

struct StepRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns which of the first `steps` steps of a run have times that count. A step waits for the
/// communication of the step before it. The first step waits for none, and the last step also waits
/// for its own. A warm-up leaves out the first step; then the last one is left out too, if others
/// remain.
StepRange TimedSteps(std::size_t steps, std::int64_t warmup_steps);

/// Figures of a run over the steps of all ranks after the warm-up; times are over `TimedSteps`.
/// A figure is absent when there is no such step.
struct StepStatistics {
  std::int64_t steps = 0;                ///< Counted steps: those that every rank has done.
  std::optional<double> step_ms_median;  ///< Median over steps of the slowest rank's time.
  std::optional<double> step_ms_p10;
  std::optional<double> step_ms_p90;
  std::optional<double> compute_ms;       ///< Median over steps of the mean over ranks.
  std::optional<double> forward_ms;       ///< Median over steps of the mean over ranks.
  std::optional<double> exposed_comm_ms;  ///< Median over steps of the mean over ranks.
  std::optional<double> submit_ms;        ///< Median over steps of the mean over ranks.
  std::optional<double> data_ms;          ///< Median over steps of the mean over ranks.
  std::optional<double> codec_ms;         ///< Median over steps of the mean over ranks.
  std::optional<double> straggler_ms;     ///< Mean over steps and ranks.
  /// Samples of all ranks divided by the time of the slowest rank.
  std::optional<double> samples_per_s;
  std::optional<double> final_loss;  ///< Mean over the samples of the last common step.
};

/// Computes the figures from the records of each rank, in order of steps. Leaves out the first
/// `warmup_steps` steps, counted from the lowest step in the records.
StepStatistics Summarize(std::span<const std::vector<StepRecord>> ranks, std::int64_t warmup_steps);

/// The mean step time over ranks and steps, over the last whole periods of `period` steps after the
/// warm-up; absent when there is no whole period.
std::optional<double> MeanStepMs(std::span<const std::vector<StepRecord>> ranks,
                                 std::int64_t warmup_steps, std::int64_t period);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_STATISTICS_STEP_STATISTICS_H_
