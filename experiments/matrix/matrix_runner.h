#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "experiments/job/run_job.h"
#include "experiments/matrix/matrix_plan.h"

namespace ringside {

/// Carries one run out: `RunJob`, or a stand-in of a test.
using RunFunction = std::function<JobOutcome(const RunSpec& spec, const JobOptions& options)>;

struct MatrixTally {
  int done = 0;
  int failed = 0;
  int skipped = 0;
  int retried = 0;  ///< Attempts besides the first ones.
  bool interrupted = false;
};

/// What the runner says while it goes on. Everything is called on the runner's thread.
class MatrixListener {
 public:
  virtual ~MatrixListener() = default;
  /// A line for people.
  virtual void Say(const std::string& line) = 0;
  /// A run that is not carried out: it has its bundle already.
  virtual void Skipped(const PlannedRun& /*run*/, const std::string& /*status*/) {}
  virtual void Started(const PlannedRun& /*run*/) {}
  virtual void Ended(const PlannedRun& /*run*/, const JobOutcome& /*outcome*/) {}
  /// Asked between runs, whose own signals are theirs: true ends the matrix.
  virtual bool Interrupted() { return false; }
};

/// Carries out the runs of a matrix, one after the other, each into `directory`/ID, and keeps the
/// spec file as matrix.yaml, a line per run in journal.jsonl and a row per run in index.sqlite. A
/// run that fails is recorded and the next one follows, after the further attempts that
/// `spec.retries` grants it; an interrupted run ends the matrix.
///
/// A kill at any moment loses and doubles nothing: a bundle counts once its summary.json is there,
/// which appears last; a bundle without one is taken away and its run carried out again; journal
/// and index are brought up to the bundles at the next start.
///
/// Throws `UsageError` under Existing::kRefuse when a finished run is there; `Error` when another
/// matrix writes there, something there is of a newer version, or results cannot be written (what
/// is finished stays, and --resume goes on).
MatrixTally RunMatrix(const MatrixSpec& spec, const std::vector<PlannedRun>& runs,
                      const std::filesystem::path& directory, Existing existing,
                      const JobOptions& job, const RunFunction& run, MatrixListener& listener);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
