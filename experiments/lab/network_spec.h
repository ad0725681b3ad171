#ifndef RINGSIDE_EXPERIMENTS_LAB_NETWORK_SPEC_H_
#define RINGSIDE_EXPERIMENTS_LAB_NETWORK_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Of one cluster, as its addresses and one machine allow.
inline constexpr int kMaxHosts = 250;

/// An emulated cluster as a run asks for it: hosts, their links, and how these are joined. A value;
/// what it means for one run is its `NetworkPlan`. Rates are of a link in one direction, in bits a
/// second; every link has them in both.
struct NetworkSpec {
  int hosts = 0;               ///< With workers; 0: one a worker.
  double rate_bits_per_s = 0;  ///< Of every host that `rates` leaves out.
  /// Of hosts 0, 1, ...; those of dedicated servers come after those of the workers.
  std::vector<double> rates;
  /// > 1: all hosts are dealt to racks in blocks, each with a switch and one uplink.
  int racks = 1;
  double uplink_bits_per_s = 0;
  double latency_s = 0;  ///< From any host to any other, one way, on top of the machine's own.
  double jitter_s = 0;   ///< Either side of the latency.
  double loss = 0;       ///< Of packets, 0 <= loss < 1.
  bool servers_on_workers = false;  ///< Dedicated servers have no hosts of their own.

  bool delays() const { return latency_s > 0 || jitter_s > 0; }
  /// What needs netem, which not every kernel has.
  bool needs_netem() const { return delays() || loss > 0; }
  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

/// "1Gbps", "hosts=4,rate=1Gbps,latency=50us", "rates=1Gbps:100Mbps,racks=2,uplink=500Mbps"
/// (docs/matrix-spec.md lists the names). Checks all that needs no run. Throws `ConfigError`.
NetworkSpec ParseNetwork(std::string_view text);

/// The text of a spec: equal specs have equal texts.
std::string NetworkText(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_NETWORK_SPEC_H_
