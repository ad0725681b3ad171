#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/system/files/file_writer.h"

namespace ringside {

/// Writes the rows of the workers' heartbeats during the run, one JSON object per line. Rank 0 goes
/// to metrics.jsonl (`"kind": "step"` and `"kind": "evaluation"`), rank K to metrics-rank-K.jsonl.
/// For one thread only, which does not wait for the disk until it calls `Drain`.
class MetricsLog {
 public:
  /// Throws `DataError` when a file cannot be created, `ResourceError` when there is no thread.
  MetricsLog(const std::string& directory, int workers);

  void Add(int rank, std::span<const StepRecord> steps,
           std::span<const HashedEvaluation> evaluations);
  /// Why a file lacks rows. Empty: as far as is known, none does.
  std::string Failure() const;
  /// Waits until the files have all rows.
  void Drain() const { writer_.Drain(); }
  /// The same for at most `wait`. Returns whether they have.
  bool DrainWithin(std::chrono::milliseconds wait) const { return writer_.DrainWithin(wait); }

 private:
  FileWriter writer_;
  std::vector<FileWriter::FileId> files_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_METRICS_LOG_H_
