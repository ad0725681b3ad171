#include "ringside/experiments/verify/verify_runner.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/verify/equivalence.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using RunFunction = std::function<JobOutcome(const RunSpec&, const JobOptions&)>;

// Thrown inside a run to end the verification.
struct Interrupted {};

class Runner {
 public:
  Runner(fs::path directory, JobOptions job, const RunFunction& run)
      : directory_(std::move(directory)), job_(std::move(job)), run_(run) {}

  /// Returns the run's final parameters. Throws `Error` when the run fails.
  std::vector<float> Params(const RunSpec& spec) {
    const fs::path bundle = directory_ / fmt::format("{:03}", next_++);
    JobOptions options = job_;
    options.bundle_dir = bundle.string();
    const JobOutcome outcome = run_(spec, options);
    if (outcome.status == JobStatus::kInterrupted || outcome.stop_requested) throw Interrupted{};
    if (outcome.status != JobStatus::kDone) {
      throw Error(fmt::format("{} ({})", StatusText(JobStatusName(outcome.status), outcome.error),
                              bundle.string()));
    }
    std::vector<float> params = ReadParams((bundle / "params.bin").string());
    // The parameters of dozens of runs of a large model would fill the disk.
    RemoveFile((bundle / "params.bin").string());
    return params;
  }

 private:
  fs::path directory_;
  JobOptions job_;
  const RunFunction& run_;
  int next_ = 0;
};

VerifyRow Check(Runner& runner, const VerifyGroup& group, const VerifyCheck& check,
                const std::vector<float>& reference, const std::string& reference_error) {
  VerifyRow row;
  row.optimizer = group.optimizer;
  row.spec = check.spec;
  row.limit = group.limit;
  row.error = reference_error;
  if (!row.error.empty()) return row;
  try {
    const std::vector<float> params = runner.Params(check.spec);
    row.difference = RelativeDifference(params, reference);
    if (check.repeat) row.same_twice = BitwiseEqual(params, runner.Params(check.spec));
  } catch (const Error& error) {
    row.error = error.what();
  }
  return row;
}

}  // namespace

VerifyResult RunVerification(const std::vector<VerifyGroup>& groups, const fs::path& directory,
                             const JobOptions& job, const RunFunction& run,
                             const VerifyProgress& progress) {
  int planned = 0;
  for (const VerifyGroup& group : groups) planned += static_cast<int>(group.checks.size());
  Runner runner(directory, job, run);
  VerifyResult result;
  try {
    for (const VerifyGroup& group : groups) {
      std::vector<float> reference;
      std::string reference_error;
      try {
        reference = runner.Params(group.reference);
      } catch (const Error& error) {
        reference_error = std::string("the single worker: ") + error.what();
      }
      for (const VerifyCheck& check : group.checks) {
        result.rows.push_back(Check(runner, group, check, reference, reference_error));
        progress(result.rows.back(), static_cast<int>(result.rows.size()), planned);
      }
    }
  } catch (const Interrupted&) {
    result.interrupted = true;
  }
  return result;
}

}  // namespace ringside
