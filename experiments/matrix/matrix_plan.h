#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/matrix/matrix_spec.h"
#include "experiments/run_spec.h"

namespace ringside {

/// One run that a matrix wants.
struct PlannedRun {
  RunSpec spec;        ///< Resolved.
  std::string id;      ///< `RunId`, the name of its bundle.
  std::string label;   ///< For people: the keys that the matrix varies, "ps-sync workers=4".
  std::string cell{};  ///< The label without the repetition: equal for all repetitions.
};

/// A combination that cannot be carried out.
struct RefusedRun {
  std::string label;
  std::string reason;  ///< With the place of the value that it is about.
};

struct MatrixPlan {
  std::vector<PlannedRun> runs;
  std::vector<RefusedRun> refused;  ///< Once each, whatever the repetitions.
};

/// Throws `MissingKeyError` where this machine cannot carry out a resolved run.
using Requirement = std::function<void(const RunSpec&)>;

/// All runs of a matrix in the order in which they are carried out: repetition by repetition, each
/// one a shuffle of all combinations, so that slow drifts of the machine fall on all alike. Pure
/// but for `require`.
///
/// `servers` of the axes and the defaults are ignored where the strategy has none; runs that are
/// equal after that are one. Throws `ConfigError`, or `MissingBackendError`, with the place of the
/// value that cannot be.
std::vector<PlannedRun> PlanMatrix(const MatrixSpec& spec, const Requirement& require = {});

/// The same, but combinations that no strategy supports or `require` refuses are refused one by one
/// and the others planned. Throws `ConfigError` where nothing is left, or a strategy's name is
/// none.
MatrixPlan PlanWhatCanRun(const MatrixSpec& spec, const Requirement& require = {});

/// What to do about runs that have a bundle already.
enum class Existing {
  kRefuse,       ///< Any finished run: refuse to start.
  kResume,       ///< Skip the finished, good or bad.
  kRetryFailed,  ///< Skip the good.
  kForce,        ///< Skip none.
};

/// Whether a run is to be carried out, given the status of its bundle (`BundleStatus`). Pure.
bool ShouldRun(Existing existing, const std::optional<std::string>& status);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_PLAN_H_
