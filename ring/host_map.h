#ifndef RINGSIDE_RING_HOST_MAP_H_
#define RINGSIDE_RING_HOST_MAP_H_

#include <span>
#include <string>
#include <vector>

namespace ringside {

/// The workers of a host, and which of them this one is.
struct HostRanks {
  int rank = 0;
  std::vector<int> workers;  ///< Their numbers in the job, by rank on the host.
};

/// Which workers share a host.
struct HostMap {
  int host = 0;                         ///< Of this worker.
  std::vector<std::vector<int>> hosts;  ///< The workers of each, in ascending order.
  HostRanks here;                       ///< Those of this worker's host.

  /// How many workers the smallest host has.
  int smallest() const;
};

/// Groups workers by `names`, the `World::host` of each: equal names, one host. Hosts are in the
/// order of their first workers. Pure.
HostMap MapHosts(int rank, std::span<const std::string> names);

}  // namespace ringside

#endif  // RINGSIDE_RING_HOST_MAP_H_
