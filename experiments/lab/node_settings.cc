#include "ringside/experiments/lab/node_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ringside {
namespace {

// A burst is what a link carries in this time of the run, between these limits. Short messages
// within a burst exceed the rate, so it must be small beside the time of a step.
constexpr double kBurstSeconds = 60e-6;
constexpr double kLeastBurstBytes = 32 << 10;
constexpr double kMostBurstBytes = 72 << 10;
// Segments leave a host in bundles that fit into the shaper's burst, as with a network card that
// splits them itself. A timer for every single packet would need more CPU time than two cores have.
// The shaper still counts the headers of every packet; this is room for them.
constexpr double kHeadersOfABundle = 4 << 10;
constexpr double kMostBundleBytes = 64 << 10;  // as network cards have it
constexpr int kBundleSegments = 65'535;        // the kernel's default: no limit but the bytes
constexpr int kSegmentBytes = 1448;            // of a packet of 1500 bytes, with time stamps
// The queue of a switch's port. When connections meet at a server's link (incast), they get equal
// shares only if the queue is short. With 50 ms of queue, some workers send far faster than others
// for seconds, and all wait for the slowest. With a much shorter queue, the links of many servers
// are sometimes idle.
constexpr double kQueueBytes = 1 << 20;
// The queue in front of a host's own link. A real host loses nothing there: TCP itself waits while
// it has much in the queue, each connection for itself. The connections of a worker and a server on
// one host together need more than the queue of a port.
constexpr double kHostQueueBytes = 16 << 20;

// With latency, one connection can fill a link only if the queue has room for the bytes in flight.
double QueueBytes(const NetworkSpec& spec, double rate) {
  const double round_trip_s = 2 * (spec.latency_s + spec.jitter_s);
  return std::max(kQueueBytes, rate / 8 * round_trip_s);
}

PortSettings Port(const std::string& device, const NetworkPlan& plan, double rate) {
  const NetworkSpec& spec = plan.spec;
  const double in_burst_time = rate * plan.dilation / 8 * kBurstSeconds;
  const double burst = std::clamp(in_burst_time, kLeastBurstBytes, kMostBurstBytes);
  return {.device = device,
          .bridge{},
          .gso_max_bytes = static_cast<int>(std::min(burst - kHeadersOfABundle, kMostBundleBytes)),
          // With loss, packets leave one by one, because single packets are lost.
          .gso_max_segs = spec.loss > 0 ? 1 : kBundleSegments,
          .rate_bits_per_s = rate,
          .burst_bytes = std::floor(burst),
          .queue_bytes = QueueBytes(spec, rate)};
}

// Delay and loss apply once, when packets leave a host. Then the packets wait for the link.
PortSettings HostPort(const NetworkPlan& plan, double rate) {
  const NetworkSpec& spec = plan.spec;
  PortSettings port = Port("eth0", plan, rate);
  port.queue_bytes = std::max(port.queue_bytes, kHostQueueBytes);
  port.latency_s = spec.latency_s;
  port.jitter_s = spec.jitter_s;
  port.loss = spec.loss;
  return port;
}

PortSettings SwitchPort(const std::string& device, const NetworkPlan& plan, double rate) {
  PortSettings port = Port(device, plan, rate);
  port.bridge = "bridge0";
  return port;
}

std::int64_t LeastRtoMs(const NetworkPlan& plan) {
  return std::llround(kLeastRetransmissionSeconds * plan.dilation * 1e3);
}

// A switch has its own address, because links are measured from there.
NodeSettings Switch(const std::string& name, const std::string& address, const NetworkPlan& plan) {
  return {.name = name,
          .device = "bridge0",
          .address = address,
          .congestion_control = plan.spec.congestion,
          .least_rto_ms = LeastRtoMs(plan),
          .ports{}};
}

std::string ShapeScript(const PortSettings& port, const std::string& parent) {
  return fmt::format("qdisc add dev {} {} tbf rate {:.0f}bit burst {:.0f}b limit {:.0f}\n",
                     port.device, parent, port.rate_bits_per_s, port.burst_bytes, port.queue_bytes);
}

// Without quickack, the receiver holds answers back for a time that dilation cannot change.
std::string RouteOptions(const NodeSettings& node) {
  return fmt::format("congctl {} quickack 1 rto_min {}ms", node.congestion_control,
                     node.least_rto_ms);
}

std::string DelayScript(const PortSettings& port) {
  std::string script =
      fmt::format("qdisc add dev {} root handle 1: netem limit {}", port.device, kDelayedPackets);
  if (port.latency_s > 0 || port.jitter_s > 0) {
    script += fmt::format(" delay {:.3f}us", port.latency_s * 1e6);
  }
  if (port.jitter_s > 0) script += fmt::format(" {:.3f}us", port.jitter_s * 1e6);
  if (port.loss > 0) script += fmt::format(" loss {:.6f}%", port.loss * 100);
  script += "\n";
  return script;
}

}  // namespace

std::vector<NodeSettings> HostSettings(const NetworkPlan& plan) {
  std::vector<NodeSettings> nodes;
  for (const NetworkPlan::Host& host : plan.hosts) {
    nodes.push_back({.name = fmt::format("host {}", nodes.size()),
                     .device = "eth0",
                     .address = host.address,
                     .congestion_control = plan.spec.congestion,
                     .least_rto_ms = LeastRtoMs(plan),
                     .ports{HostPort(plan, host.rate_bits_per_s)}});
  }
  return nodes;
}

std::vector<NodeSettings> SwitchSettings(const NetworkPlan& plan) {
  const NetworkSpec& spec = plan.spec;
  std::vector<NodeSettings> nodes;
  for (int rack = 0; rack < spec.racks; ++rack) {
    const std::string name =
        spec.racks > 1 ? fmt::format("the switch of rack {}", rack) : std::string("the switch");
    nodes.push_back(Switch(name, fmt::format("10.83.254.{}", rack + 1), plan));
  }
  for (std::size_t index = 0; index < plan.hosts.size(); ++index) {
    const NetworkPlan::Host& host = plan.hosts[index];
    nodes[static_cast<std::size_t>(host.rack)].ports.push_back(
        SwitchPort(fmt::format("port{}", index), plan, host.rate_bits_per_s));
  }
  if (spec.racks == 1) return nodes;
  for (NodeSettings& node : nodes) {
    node.ports.push_back(SwitchPort("uplink", plan, spec.uplink_bits_per_s));
  }
  return nodes;
}

std::vector<NodeSettings> SpineSettings(const NetworkPlan& plan) {
  const NetworkSpec& spec = plan.spec;
  if (spec.racks == 1) return {};
  NodeSettings spine = Switch("the switch of the racks", "10.83.255.1", plan);
  for (int rack = 0; rack < spec.racks; ++rack) {
    spine.ports.push_back(SwitchPort(fmt::format("rack{}", rack), plan, spec.uplink_bits_per_s));
  }
  return {spine};
}

// Switches pass bundles on as they come, or split them.
int MostSegmentsOfAPacket(const NetworkPlan& plan) {
  int most = 1;
  for (const NodeSettings& host : HostSettings(plan)) {
    for (const PortSettings& port : host.ports) {
      const int by_bytes = (port.gso_max_bytes + kSegmentBytes - 1) / kSegmentBytes;
      most = std::max(most, std::min(by_bytes, port.gso_max_segs));
    }
  }
  return most;
}

// The address brings its routes with it. They are replaced, because a route names the congestion
// control of the connections that use it. Processes on one host reach each other through the route
// to its own address. A namespace's sysctl is no way: it only takes the algorithms that
// tcp_allowed_congestion_control of the machine lists.
std::string IpScript(const NodeSettings& node) {
  std::string script = "link set dev lo up\n";
  for (const PortSettings& port : node.ports) {
    if (!port.bridge.empty()) {
      script += fmt::format("link set dev {} master {}\n", port.device, port.bridge);
    }
    script += fmt::format("link set dev {} gso_max_size {} gso_max_segs {} up\n", port.device,
                          port.gso_max_bytes, port.gso_max_segs);
  }
  fmt::format_to(std::back_inserter(script),
                 "link set dev {0} up\n"
                 "address add {1}/{2} dev {0}\n"
                 "route replace {3} dev {0} proto kernel scope link src {1} {4}\n"
                 "route replace local {1} table local dev {0} proto kernel scope host src {1} "
                 "{4}\n",
                 node.device, node.address, kLabPrefix, kLabSubnet, RouteOptions(node));
  return script;
}

std::string TcScript(const NodeSettings& node) {
  std::string script;
  for (const PortSettings& port : node.ports) {
    if (port.needs_netem()) script += DelayScript(port);
    script += ShapeScript(port, port.needs_netem() ? "parent 1:1 handle 10:" : "root handle 1:");
  }
  return script;
}

}  // namespace ringside
