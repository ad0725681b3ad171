#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/matrix/matrix_plan.h"

namespace ringside {

/// The function that carries out one run: `RunJob`, or a replacement in a test.
using RunFunction = std::function<JobOutcome(const RunSpec& spec, const JobOptions& options)>;

struct MatrixRunCounts {
  int done = 0;
  int limited = 0;  ///< Of `done`: those that the machine limited, or nobody judged.
  int failed = 0;
  int skipped = 0;
  int retried = 0;  ///< Attempts after the first one of each run.
  bool interrupted = false;
};

/// The events of a matrix that runs. All functions are called on the runner's thread.
class MatrixListener {
 public:
  virtual ~MatrixListener() = default;
  /// Shows a line for people.
  virtual void ShowLine(const std::string& line) = 0;
  /// A run is not carried out because its bundle already exists.
  virtual void Skipped(const PlannedRun& /*run*/, const std::string& /*status*/) {}
  virtual void Started(const PlannedRun& /*run*/) {}
  virtual void Ended(const PlannedRun& /*run*/, const JobOutcome& /*outcome*/) {}
  /// Called between runs; true ends the matrix. During a run, the run handles signals itself.
  virtual bool Interrupted() { return false; }
};

/// Carries out the runs of a matrix one after the other, each in `directory`/ID. Writes the spec
/// file as matrix.yaml, a line per run to journal.jsonl and a row per run to index.sqlite. A failed
/// run may get up to `spec.retries` more attempts. Then its failure is recorded, and the next run
/// follows. An interrupted run ends the matrix.
///
/// A kill at any time loses no finished run and repeats none. A bundle counts when it has its
/// summary.json, which is written last. At the next start, a bundle without summary.json is removed
/// and its run is carried out again. Journal and index are then updated from the bundles.
///
/// Throws `UsageError` with ExistingRunPolicy::kRefuse when there is a finished run. Throws `Error`
/// when another matrix writes there, a file there has a newer version, or results cannot be written
/// (finished runs stay, and --resume goes on).
MatrixRunCounts RunMatrix(const MatrixSpec& spec, const std::vector<PlannedRun>& runs,
                          const std::filesystem::path& directory, ExistingRunPolicy existing,
                          const JobOptions& job, const RunFunction& run, MatrixListener& listener);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
