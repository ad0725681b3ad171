#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/job/files.h"
#include "experiments/job/run_job.h"
#include "experiments/matrix/matrix_plan.h"

namespace ringside {

/// Keeps a second matrix out of a directory as long as it lives; the kernel lets go when the
/// process dies, however it dies.
class DirectoryLock {
 public:
  /// Creates the directory. Throws `Error` when another process holds it.
  explicit DirectoryLock(const std::filesystem::path& directory);

 private:
  FileDescriptor file_;
};

/// Carries one run out: `RunJob`, or a stand-in of a test.
using RunFunction = std::function<JobOutcome(const RunSpec& spec, const JobOptions& options)>;

struct MatrixTally {
  int done = 0;
  int failed = 0;
  int skipped = 0;
  bool interrupted = false;
};

/// What the runner says while it goes on, a line at a time.
using SayFunction = std::function<void(const std::string& line)>;

/// Carries out the runs of a matrix, one after the other, each into `directory`/ID. A run that
/// fails is recorded and the next one follows; an interrupted run ends the matrix. `directory`
/// keeps the spec file as matrix.yaml and a line per run in journal.jsonl (id, status, seconds).
/// Throws `UsageError` under Existing::kRefuse when a finished run is there.
MatrixTally RunMatrix(const MatrixSpec& spec, const std::vector<PlannedRun>& runs,
                      const std::filesystem::path& directory, Existing existing,
                      const JobOptions& job, const RunFunction& run, const SayFunction& say);

/// Seconds that the runs may take, from those that the journal of `directory` knows: the median of
/// the same strategy and workers, else of all. Nothing where no run was timed yet.
std::optional<double> EstimateSeconds(const std::vector<PlannedRun>& runs,
                                      const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_RUNNER_H_
