#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/matrix_spec.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// One run of a matrix.
struct PlannedRun {
  RunSpec spec;        ///< Resolved.
  std::string id;      ///< `RunId`; also the name of its bundle.
  std::string label;   ///< For people: the varied keys, "ps-sync workers=4".
  std::string cell{};  ///< The label without the repetition: equal for all repetitions.
};

/// A combination that cannot run.
struct RefusedRun {
  std::string label;
  std::string reason;  ///< With the position of the wrong value in the file.
};

struct MatrixPlan {
  std::vector<PlannedRun> runs;
  std::vector<RefusedRun> refused;  ///< One entry each, for all repetitions.
};

/// A check that throws `MissingKeyError` when this machine cannot run a resolved spec.
using Requirement = std::function<void(const RunSpec&)>;

/// All runs of a matrix, whose processes run `where`, in the order in which they run. The
/// repetitions follow one another; each is a shuffle of all combinations, so that slow changes of
/// the machine affect all of them equally. A pure function except for `require`.
///
/// Where a strategy has no servers, `servers` of the axes and the defaults is ignored. Runs that
/// are equal after that become one. Throws `ConfigError` or `MissingBackendError` with the position
/// of the wrong value.
std::vector<PlannedRun> PlanMatrix(const MatrixSpec& spec, const Requirement& require = {},
                                   RunsOn where = RunsOn::kThisMachine);

/// The same, but puts combinations that cannot run, or that `require` rejects, into `refused` and
/// plans the others. Throws `ConfigError` when no run is left or the name of a strategy is
/// unknown.
MatrixPlan PlanSupportedRuns(const MatrixSpec& spec, const Requirement& require = {},
                             RunsOn where = RunsOn::kThisMachine);

/// What to do with runs that already have a bundle.
enum class ExistingRunPolicy {
  kRefuse,       ///< Refuse to start if there is a finished run.
  kResume,       ///< Skip finished runs, successful or not.
  kRetryFailed,  ///< Skip successful runs.
  kForce,        ///< Skip no run.
};

/// Whether to carry out a run with this `BundleStatus`. A pure function.
bool ShouldRun(ExistingRunPolicy existing, const std::optional<std::string>& status);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_
