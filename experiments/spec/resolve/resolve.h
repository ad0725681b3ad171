#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_H_

#include <cstddef>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Which machines run the processes of a spec.
enum class RunsOn {
  kThisMachine,
  /// Perhaps this one among them. They have the same files at the same paths.
  kOtherHosts,
};

/// Checks a spec before anything starts, and fills in what is not set (servers, batch, data).
/// Throws `SpecKeyError` or `MissingBackendError` for what cannot run. Examples: unknown names
/// (with "did you mean"), zero workers, too many servers, a global batch smaller than the number of
/// workers, a strategy whose backend is missing. Other hosts are not asked for backends and GPUs:
/// each process finds out what its host has.
RunSpec Resolve(RunSpec spec, RunsOn where = RunsOn::kThisMachine);

/// The part of `Resolve` that does not depend on this machine. It does not ask for files, programs,
/// backends and GPUs: another machine shall run the spec.
RunSpec ResolveForAnotherMachine(RunSpec spec);

/// Throws `SpecKeyError` if one step needs more than `train_samples`, the samples of the training
/// split. Such a step would get fewer samples than the spec says. `Resolve` calls this for data
/// whose size is known before files are read.
void RefuseLargeBatch(const RunSpec& spec, std::size_t train_samples);

/// The part of `Resolve` for the strategy, its processes and its options. For runs that train no
/// model.
RunSpec ResolveStrategy(RunSpec spec, RunsOn where = RunsOn::kThisMachine);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_H_
