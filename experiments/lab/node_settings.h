#ifndef RINGSIDE_EXPERIMENTS_LAB_NODE_SETTINGS_H_
#define RINGSIDE_EXPERIMENTS_LAB_NODE_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/network/network_plan.h"

namespace ringside {

/// All addresses of an emulated network.
inline constexpr char kLabSubnet[] = "10.83.0.0/16";
inline constexpr int kLabPrefix = 16;
/// After a pause, TCP by default forgets how much the link carries. Workers pause in every step, so
/// every node sets this to 0.
inline constexpr char kSlowStartAfterIdle[] = "ipv4/tcp_slow_start_after_idle";
/// The kernel's own least time before TCP sends again (TCP_RTO_MIN), in seconds. It is set on every
/// route, because time dilation multiplies it.
inline constexpr double kLeastRetransmissionSeconds = 0.2;
/// How many packets netem may hold back at a time.
inline constexpr int kDelayedPackets = 100'000;

/// How one end of a link sends. A value.
struct PortSettings {
  std::string device;
  std::string bridge;     ///< The bridge that it belongs to; empty: none.
  int gso_max_bytes = 0;  ///< The largest bundle of segments.
  int gso_max_segs = 0;   ///< The most segments of a bundle.
  double rate_bits_per_s = 0;
  double burst_bytes = 0;
  double queue_bytes = 0;
  double latency_s = 0;
  double jitter_s = 0;
  double loss = 0;

  bool needs_netem() const { return latency_s > 0 || jitter_s > 0 || loss > 0; }
};

/// Everything that is set in the namespace of a host or a switch. A value; `CheckSettings` reads it
/// back from the kernel.
struct NodeSettings {
  std::string name;    ///< For messages: "host 2", "the switch".
  std::string device;  ///< It has the address.
  std::string address;
  std::string congestion_control;  ///< Of all TCP connections, also those to its own address.
  std::int64_t least_rto_ms = 0;   ///< TCP waits at least so long before it sends again.
  std::vector<PortSettings> ports;
};

/// The settings of every host, of the switch of every rack, and of the switch of the racks (none
/// without racks). Pure.
std::vector<NodeSettings> HostSettings(const NetworkPlan& plan);
std::vector<NodeSettings> SwitchSettings(const NetworkPlan& plan);
std::vector<NodeSettings> SpineSettings(const NetworkPlan& plan);

/// The most TCP segments of a packet, which is a bundle of them. A queue that drops one packet
/// drops as many. Pure.
int MostSegmentsOfAPacket(const NetworkPlan& plan);

/// The lines for `ip` and `tc` that set it all, once the devices exist. Pure.
std::string IpScript(const NodeSettings& node);
std::string TcScript(const NodeSettings& node);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_LAB_NODE_SETTINGS_H_
