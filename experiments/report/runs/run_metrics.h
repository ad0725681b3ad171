#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_METRICS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_METRICS_H_

#include <filesystem>
#include <vector>

#include "ringside/experiments/report/runs/study_run.h"

namespace ringside {

/// The data of a bundle's metrics.jsonl that its summary lacks. A plain value.
struct RunMetrics {
  std::vector<double> step_ms;          ///< Rank 0's, in order, with warm-up.
  std::vector<CurvePoint> evaluations;  ///< `samples` is left 0.
};

/// Reads all valid lines. Skips invalid ones: a killed run's last line may be incomplete. Returns
/// nothing when there is no file. Throws `DataError` for what is no regular file or too long. As
/// fast as splitting the file into lines.
RunMetrics ReadRunMetrics(const std::filesystem::path& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_RUN_METRICS_H_
