#ifndef RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_SPEC_H_
#define RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The most hosts of one cluster: the limit of its addresses and of one machine.
inline constexpr int kMaxHosts = 250;
/// The congestion control of emulated hosts when a run names none: the default of most systems.
inline constexpr std::string_view kDefaultCongestion = "cubic";
/// A full frame takes longer on a slower link than the shaper's queue holds it.
inline constexpr double kSlowestLinkBitsPerSecond = 1e6;
inline constexpr double kLongestDelaySeconds = 10;

/// An emulated cluster as a run asks for it: hosts, their links, and how the links are joined. A
/// value; `NetworkPlan` applies it to one run. A rate is in bits per second and holds for each
/// direction of a link.
struct NetworkSpec {
  int hosts = 0;               ///< Hosts with workers; 0: one per worker.
  double rate_bits_per_s = 0;  ///< Of every host that is not in `rates`.
  /// Rates of hosts 0, 1, ...; hosts of dedicated servers come after those of the workers.
  std::vector<double> rates;
  /// With more than 1, hosts are placed in racks in blocks; each rack has a switch and one uplink.
  int racks = 1;
  double uplink_bits_per_s = 0;
  double latency_s = 0;  ///< From any host to any other, one way, on top of the machine's own.
  double jitter_s = 0;   ///< Added to or taken from the latency.
  double loss = 0;       ///< Share of packets, 0 <= loss < 1.
  bool servers_on_workers = false;  ///< Dedicated servers have no hosts of their own.
  /// TCP's congestion control, by the kernel's name.
  std::string congestion{kDefaultCongestion};

  bool delays() const { return latency_s > 0 || jitter_s > 0; }
  /// Whether the network needs netem, which some kernels do not have.
  bool needs_netem() const { return delays() || loss > 0; }
  /// The rate of the slowest link that the spec names, uplinks included.
  double slowest_bits_per_s() const;
  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

/// "1Gbps", "hosts=4,rate=1Gbps,latency=50us", "rates=1Gbps:100Mbps,racks=2,uplink=500Mbps"
/// (docs/networks.md lists the names). Makes all checks that need no run. Throws `ConfigError`.
NetworkSpec ParseNetwork(std::string_view text);

/// The text of a spec; equal specs have equal texts.
std::string NetworkText(const NetworkSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_NETWORK_NETWORK_SPEC_H_
