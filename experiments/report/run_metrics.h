#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUN_METRICS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUN_METRICS_H_

#include <filesystem>
#include <vector>

#include "experiments/report/study_run.h"

namespace ringside {

/// What a bundle's metrics.jsonl adds to its summary. A plain value.
struct RunMetrics {
  std::vector<double> step_ms;          ///< Of rank 0, in order, warm-up included.
  std::vector<CurvePoint> evaluations;  ///< `samples` is left 0.
};

/// Reads what it can: a killed run's last line may be torn, and one that is no such line is passed
/// over. Empty when there is no such file. As fast as a file can be split into lines.
RunMetrics ReadRunMetrics(const std::filesystem::path& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUN_METRICS_H_
