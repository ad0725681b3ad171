#ifndef RINGSIDE_EXPERIMENTS_JOB_CORE_RUN_ORIGIN_H_
#define RINGSIDE_EXPERIMENTS_JOB_CORE_RUN_ORIGIN_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/core/job_outcome.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A generation of a run that failed: from one start of its processes to the next.
struct FailedGeneration {
  int workers = 1;
  ReportedSteps steps{};
  bool updates_alone = false;  ///< Each step of each worker was an update of its own, at servers.
  double seconds = 0;          ///< From its start until its last process had ended.
  std::string error;
  nlohmann::json failure{};     ///< `FailureRecord`, or null.
  nlohmann::json last_words{};  ///< As in the summary of a failed run.
};

/// Where a run comes from, for its summary.
struct RunOrigin {
  std::string rerun_of;              ///< Id of the run whose bundle gave the spec; empty: none did.
  std::vector<std::string> earlier;  ///< Why each earlier attempt at this run failed.
  std::vector<FailedGeneration> generations;
  /// The spec that was asked for, if this generation has another one. It names the run.
  std::optional<RunSpec> asked;

  /// `rerun_of`, `attempt`, `earlier_attempts`, `restarts`, `failed_generations`; with `asked` also
  /// `run_id`. `first_step`: the first one that the last generation reported.
  void AddTo(nlohmann::json& summary, std::optional<std::int64_t> first_step) const;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CORE_RUN_ORIGIN_H_
