#ifndef RINGSIDE_RING_CORE_HOST_MAP_H_
#define RINGSIDE_RING_CORE_HOST_MAP_H_

#include <span>
#include <string>
#include <vector>

namespace ringside {

/// The workers of a host, and this worker's rank among them.
struct HostRanks {
  int rank = 0;
  std::vector<int> workers;  ///< Their ranks in the job, by rank on the host.
};

/// The hosts of a job, and the workers on each.
struct HostMap {
  int host = 0;                         ///< Index of this worker's host.
  std::vector<std::vector<int>> hosts;  ///< Workers of each host, in ascending order.
  HostRanks here;                       ///< The workers of this worker's host.

  /// The number of workers on the host with the fewest.
  int smallest() const;
  /// The workers whose rank on their host is `rank`, by host. Every host has one.
  std::vector<int> Lane(int rank) const;
};

/// Groups workers by `names`, the `World::host` of each. Workers with equal names are on one host.
/// Hosts are in the order of their first workers. Pure.
HostMap MapHosts(int rank, std::span<const std::string> names);

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_HOST_MAP_H_
