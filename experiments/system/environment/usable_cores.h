#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_USABLE_CORES_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_USABLE_CORES_H_

namespace ringside {

/// The cores that this process may use, at least 1. A container or `taskset` may leave it fewer
/// than the machine has.
int UsableCores();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_USABLE_CORES_H_
