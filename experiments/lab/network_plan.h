#ifndef RINGSIDE_EXPERIMENTS_LAB_NETWORK_PLAN_H_
#define RINGSIDE_EXPERIMENTS_LAB_NETWORK_PLAN_H_

#include <string>
#include <vector>

#include "experiments/lab/network_spec.h"

namespace ringside {

/// A `NetworkSpec` for one run: which hosts there are and who lives where. A value.
struct NetworkPlan {
  struct Host {
    double rate_bits_per_s = 0;
    int rack = 0;
    std::string address;  ///< 10.83.0.1 and so on.
  };

  NetworkSpec spec;
  std::vector<Host> hosts;        ///< Those of workers, then those of dedicated servers.
  std::vector<int> worker_hosts;  ///< Of each rank.
  std::vector<int> server_hosts;  ///< Of each dedicated server.

  double fastest_bits_per_s() const;
};

/// How many hosts have workers, where a run says `hosts` itself (0: it does not). Throws
/// `ConfigError` where both say something else, or there are more than workers.
int WorkerHosts(const NetworkSpec& spec, int workers, int hosts);

/// Workers are dealt to hosts in blocks of consecutive ranks, as `DealToHosts` does; dedicated
/// servers have a host each, or take turns on those of the workers. Throws `ConfigError` on rates
/// for hosts that are not there or missing for some that are, on racks that do not divide the
/// hosts, on too many hosts. `hosts` as for `WorkerHosts`. Pure.
NetworkPlan PlanNetwork(const NetworkSpec& spec, int workers, int dedicated_servers, int hosts = 0);

/// Goodput of a link that carries `bits_per_s`: full Ethernet frames of 1,514 bytes with 1,448
/// bytes of TCP payload each.
double GoodputBytesPerSecond(double bits_per_s);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_NETWORK_PLAN_H_
