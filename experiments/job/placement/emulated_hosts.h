#ifndef RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_EMULATED_HOSTS_H_
#define RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_EMULATED_HOSTS_H_

#include "ringside/common/core/world.h"

namespace ringside {

/// Divides the workers of a job among `hosts` hosts, in nearly equal blocks of consecutive ranks,
/// and sets this worker's host and local rank. With 0 hosts it leaves the world as it is.
void AssignWorkersToHosts(World& world, int hosts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_EMULATED_HOSTS_H_
