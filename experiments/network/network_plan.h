#ifndef RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_PLAN_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_PLAN_H_

#include <string>
#include <vector>

#include "ringside/experiments/network/network_spec.h"

namespace ringside {

/// A `NetworkSpec` applied to one run: the hosts, and which processes run on them. A value.
struct NetworkPlan {
  struct Host {
    double rate_bits_per_s = 0;
    int rack = 0;
    std::string address;  ///< For example 10.83.0.1.
  };

  NetworkSpec spec;
  /// How much slower than declared it is (`Dilated`). The spec and the hosts have the slower rates.
  double dilation = 1;
  std::vector<Host> hosts;        ///< The workers' hosts, then those of dedicated servers.
  std::vector<int> worker_hosts;  ///< The host of each rank.
  std::vector<int> server_hosts;  ///< The host of each dedicated server.

  double fastest_bits_per_s() const;
};

/// The number of hosts with workers. `hosts` is the run's own setting; 0: none. Throws
/// `ConfigError` when spec and run disagree, or when there are more hosts than workers.
int WorkerHosts(const NetworkSpec& spec, int workers, int hosts);

/// Places workers on hosts in blocks of consecutive ranks, as `AssignWorkersToHosts` does. Gives
/// each dedicated server its own host, or places them in turn on the workers' hosts. `hosts` is as
/// for `WorkerHosts`. Throws `ConfigError` on too many hosts, on racks that do not divide them, and
/// on rates that are missing or belong to no host. Pure.
NetworkPlan PlanNetwork(const NetworkSpec& spec, int workers, int dedicated_servers, int hosts = 0);

/// The goodput, in bytes per second, of a link that carries `bits_per_s`: full Ethernet frames of
/// 1,514 bytes with 1,448 bytes of TCP payload each.
double GoodputBytesPerSecond(double bits_per_s);
/// The rate of a link with this goodput.
double BitsPerSecondOfGoodput(double bytes_per_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_PLAN_H_
