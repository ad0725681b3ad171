#ifndef RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_
#define RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/verify/verify_plan.h"

namespace ringside {

/// The result of one check.
struct VerifyRow {
  std::string optimizer;
  RunSpec spec;
  std::optional<double> difference;  ///< Relative; absent when a run failed.
  double limit = 0;
  std::optional<bool> same_twice;  ///< Bitwise; absent without a repeat.
  std::string error;               ///< Error of a failed run; else empty.
  bool ok() const {
    return difference && *difference < limit && same_twice.value_or(true) && error.empty();
  }
};

struct VerifyResult {
  std::vector<VerifyRow> rows;
  bool interrupted = false;
};

/// Called after each check with the numbers of done and planned checks.
using VerifyProgress = std::function<void(const VerifyRow& row, int done, int planned)>;

/// Carries out all groups, with bundles below `directory`. When a run fails, its check fails; when
/// a reference fails, all checks of its group fail. An interrupted run ends the verification. `run`
/// is `RunJob`, or a replacement in a test.
VerifyResult RunVerification(
    const std::vector<VerifyGroup>& groups, const std::filesystem::path& directory,
    const JobOptions& job, const std::function<JobOutcome(const RunSpec&, const JobOptions&)>& run,
    const VerifyProgress& progress);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_RUNNER_H_
