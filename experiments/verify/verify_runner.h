#ifndef RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/job/run_job.h"
#include "experiments/verify/verify_plan.h"

namespace ringside {

/// What became of one check.
struct VerifyRow {
  std::string optimizer;
  RunSpec spec;
  std::optional<double> difference;  ///< Relative; absent when a run failed.
  double limit = 0;
  std::optional<bool> same_twice;  ///< Bitwise; absent when it was not repeated.
  std::string error;               ///< Of a run that failed; empty otherwise.
  bool ok() const {
    return difference && *difference < limit && same_twice.value_or(true) && error.empty();
  }
};

struct VerifyResult {
  std::vector<VerifyRow> rows;
  bool interrupted = false;
};

/// Called after each check, with how many are done and planned.
using VerifyProgress = std::function<void(const VerifyRow& row, int done, int planned)>;

/// Carries out all groups, bundles below `directory`. A run that fails fails its check, a reference
/// that fails all checks of its group; an interrupted run ends the verification. `run` is `RunJob`,
/// or a stand-in of a test.
VerifyResult RunVerification(
    const std::vector<VerifyGroup>& groups, const std::filesystem::path& directory,
    const JobOptions& job, const std::function<JobOutcome(const RunSpec&, const JobOptions&)>& run,
    const VerifyProgress& progress);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_
