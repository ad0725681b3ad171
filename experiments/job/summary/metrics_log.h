#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_

#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// Writes the rows of the workers' heartbeats during the run, one JSON object per line. Rank 0 goes
/// to metrics.jsonl (`"kind": "step"` and `"kind": "evaluation"`), rank K to metrics-rank-K.jsonl.
/// For one thread only.
class MetricsLog {
 public:
  /// Throws `DataError` when a file cannot be created.
  MetricsLog(const std::string& directory, int workers);

  /// Adds rows. Throws `DataError` when they cannot be written.
  void Add(int rank, std::span<const StepRecord> steps,
           std::span<const HashedEvaluation> evaluations);

 private:
  struct File {
    std::string path;
    FileDescriptor descriptor;
  };
  std::vector<File> files_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_
