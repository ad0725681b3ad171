#ifndef RINGSIDE_EXPERIMENTS_JOB_METRICS_LOG_H_
#define RINGSIDE_EXPERIMENTS_JOB_METRICS_LOG_H_

#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "experiments/job/job_board.h"

namespace ringside {

/// Writes what the workers' heartbeats bring while the run goes on, one JSON object a line: rank 0
/// to metrics.jsonl (`"kind": "step"` and `"kind": "evaluation"`), rank K to metrics-rank-K.jsonl.
/// Used by one thread.
class MetricsLog {
 public:
  /// Throws `DataError` when a file cannot be created.
  MetricsLog(const std::string& directory, int workers);

  /// Throws `DataError` when they cannot be written.
  void Add(int rank, std::span<const StepRecord> steps,
           std::span<const HashedEvaluation> evaluations);
  /// Throws `DataError` when something could not be written. Nothing is added after.
  void Close();

 private:
  struct File {
    std::string path;
    std::ofstream stream;
  };
  std::vector<File> files_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_METRICS_LOG_H_
