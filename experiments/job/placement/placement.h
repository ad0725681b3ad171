#ifndef RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_PLACEMENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_PLACEMENT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/job/placement/cluster_hosts.h"

namespace ringside {

/// A worker's place among the workers of its machine.
struct LocalPlace {
  int rank = 0;
  int workers = 1;
};

/// On which host each process of a run is. A plain value.
struct Placement {
  /// The names of the hosts that are used. One without a name is this machine.
  std::vector<std::string> hosts;
  std::vector<int> workers;  ///< The host of each worker, as an index.
  std::vector<int> servers;  ///< The host of each dedicated server.

  /// All processes of a run. Launchers number them: workers first, then servers.
  int processes() const { return static_cast<int>(workers.size() + servers.size()); }
  Member MemberOf(int process) const;
  const std::string& HostOf(int process) const;
  const std::string& HostOf(const Member& member) const;
  LocalPlace PlaceOf(const Member& worker) const;
  /// Whether all processes are on this machine.
  bool is_here() const { return hosts.size() == 1 && hosts.front().empty(); }
};

/// Everything on this machine.
Placement PlaceHere(int workers, int servers);

/// Fills the hosts in their order: first with workers, then with servers. Where some host has slots
/// for servers alone, servers go to these only. Throws `ConfigError` when there are too few slots.
Placement PlaceOn(const ClusterHosts& cluster, int workers, int servers);

void to_json(nlohmann::json& json, const Placement& placement);
void from_json(const nlohmann::json& json, Placement& placement);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PLACEMENT_PLACEMENT_H_
