#ifndef RINGSIDE_EXPERIMENTS_JOB_EMULATED_HOSTS_H_
#define RINGSIDE_EXPERIMENTS_JOB_EMULATED_HOSTS_H_

#include "common/world.h"

namespace ringside {

/// Deals the workers of a job to `hosts` hosts in blocks of consecutive ranks, nearly equal, and
/// says where this one stands: its host, its local rank. 0 hosts: leaves the world as it is.
void DealToHosts(World& world, int hosts);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_EMULATED_HOSTS_H_
