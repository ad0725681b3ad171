#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_WORLD_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_WORLD_H_

// Private to the .cc files of this folder.

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

// The parts of `Resolve` that are about where a run's processes are. They throw `SpecKeyError`.

/// Fills in the number of emulated hosts.
void ResolveHosts(RunSpec& spec);
/// Checks the numbers of workers and servers, and fills in the latter.
void ResolveWorld(RunSpec& spec, const StrategyEntry& strategy);
/// Checks the network and fills in the link values, which the communication bound uses.
void ResolveNetwork(RunSpec& spec, const StrategyEntry& strategy);
void CheckDilation(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_WORLD_H_
