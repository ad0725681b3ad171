#include "ringside/experiments/job/placement/emulated_hosts.h"

#include <fmt/format.h>

namespace ringside {

void AssignWorkersToHosts(World& world, int hosts) {
  if (hosts == 0) return;
  const auto begin = [&](int host) { return (host * world.workers + hosts - 1) / hosts; };
  const int host = world.rank * hosts / world.workers;
  world.local_rank = world.rank - begin(host);
  world.local_workers = begin(host + 1) - begin(host);
  world.host = fmt::format("{}#{}", world.host, host);
}

}  // namespace ringside
