#include "ringside/experiments/lab/lab.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/experiments/lab/emulation_support.h"

namespace ringside {
namespace {

// Segments leave a host in bundles that fit into the shaper's burst, as with a network card that
// splits them itself. A timer for every single packet would need more CPU time than two cores have.
// The shaper still counts the headers of every packet.
constexpr int kBundleBytes = 28'672;
// The burst is small, because short messages within a burst exceed the rate.
constexpr char kBurst[] = "32kb";
// The queue of a switch's port. When connections meet at a server's link (incast), they get equal
// shares only if the queue is short. With 50 ms of queue, some workers send far faster than others
// for seconds, and all wait for the slowest. With a much shorter queue, the links of many servers
// are sometimes idle.
constexpr double kQueueBytes = 1 << 20;
// The default of most systems. It is fixed here because it decides how links are shared. With BBR,
// the default of some kernels, servers' connections leave a tenth of a link unused.
constexpr char kCongestionControl[] = "cubic";
constexpr int kDelayedPackets = 100'000;
constexpr int kPrefix = 16;

std::string SwitchAddress(int index) { return fmt::format("10.83.254.{}", index + 1); }
std::string SpineAddress() { return "10.83.255.1"; }

// With loss, packets leave one by one, because single packets are lost.
std::string Raise(const std::string& device, const NetworkSpec& spec) {
  return fmt::format("link set dev {} gso_max_size {} {}up\n", device, kBundleBytes,
                     spec.loss > 0 ? "gso_max_segs 1 " : "");
}

// With latency, one connection can fill a link only if the queue has room for the bytes in flight.
double QueueBytes(const NetworkSpec& spec, double rate) {
  const double round_trip_s = 2 * (spec.latency_s + spec.jitter_s);
  return std::max(kQueueBytes, rate / 8 * round_trip_s);
}

std::string Shape(const std::string& device, const std::string& parent, const NetworkSpec& spec,
                  double rate) {
  return fmt::format("qdisc add dev {} {} tbf rate {:.0f}bit burst {} limit {:.0f}\n", device,
                     parent, rate, kBurst, QueueBytes(spec, rate));
}

// Delay and loss apply once, when packets leave a host. Then the packets wait for the link.
std::string ShapeHost(const NetworkSpec& spec, double rate) {
  if (!spec.needs_netem()) return Shape("eth0", "root handle 1:", spec, rate);
  std::string netem =
      fmt::format("qdisc add dev eth0 root handle 1: netem limit {}", kDelayedPackets);
  if (spec.delays()) netem += fmt::format(" delay {:.3f}us", spec.latency_s * 1e6);
  if (spec.jitter_s > 0) netem += fmt::format(" {:.3f}us", spec.jitter_s * 1e6);
  if (spec.loss > 0) netem += fmt::format(" loss {:.6f}%", spec.loss * 100);
  return netem + "\n" + Shape("eth0", "parent 1:1 handle 10:", spec, rate);
}

std::vector<NetNamespace> MakeNamespaces(std::size_t count) {
  std::vector<NetNamespace> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(NetNamespace::Make());
  return made;
}

}  // namespace

Lab::Lab(NetworkPlan plan, const StopCheck& check)
    : plan_(std::move(plan)),
      hosts_(MakeNamespaces(plan_.hosts.size())),
      switches_(MakeNamespaces(static_cast<std::size_t>(plan_.spec.racks))),
      spine_(MakeNamespaces(plan_.spec.racks > 1 ? 1 : 0)) {
  const int racks = plan_.spec.racks;
  for (int rack = 0; rack < racks; ++rack) {
    check();
    MakeSwitch(switches_[static_cast<std::size_t>(rack)], SwitchAddress(rack));
  }
  if (!spine_.empty()) MakeSwitch(spine_.front(), SpineAddress());
  for (int host = 0; host < static_cast<int>(hosts_.size()); ++host) {
    check();
    MakeHost(host);
  }
  for (int rack = 0; rack < racks; ++rack) {
    check();
    JoinHosts(rack);
    if (!spine_.empty()) MakeUplink(rack);
  }
}

// A switch has its own address, because links are measured from there.
void Lab::MakeSwitch(const NetNamespace& switch_namespace, const std::string& address) const {
  switch_namespace.ChooseCongestionControl(kCongestionControl);
  RunIp(switch_namespace, fmt::format("link add bridge0 type bridge\n"
                                      "address add {}/{} dev bridge0\n"
                                      "link set dev lo up\n"
                                      "link set dev bridge0 up\n",
                                      address, kPrefix));
}

void Lab::MakeHost(int index) const {
  const NetworkPlan::Host& host = plan_.hosts[static_cast<std::size_t>(index)];
  const NetNamespace& own = hosts_[static_cast<std::size_t>(index)];
  own.ChooseCongestionControl(kCongestionControl);
  RunIp(own, fmt::format("link add eth0 type veth peer name port{} netns {}\n"
                         "address add {}/{} dev eth0\n"
                         "link set dev lo up\n",
                         index, SwitchOf(index).path(), host.address, kPrefix) +
                 Raise("eth0", plan_.spec));
  RunTc(own, ShapeHost(plan_.spec, host.rate_bits_per_s));
}

void Lab::JoinHosts(int rack) const {
  std::string joined;
  std::string shaped;
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    const NetworkPlan::Host& host = plan_.hosts[index];
    if (host.rack != rack) continue;
    const std::string port = fmt::format("port{}", index);
    joined += fmt::format("link set dev {} master bridge0\n", port) + Raise(port, plan_.spec);
    shaped += Shape(port, "root", plan_.spec, host.rate_bits_per_s);
  }
  const NetNamespace& switch_namespace = switches_[static_cast<std::size_t>(rack)];
  RunIp(switch_namespace, joined);
  RunTc(switch_namespace, shaped);
}

void Lab::MakeUplink(int rack) const {
  const NetNamespace& switch_namespace = switches_[static_cast<std::size_t>(rack)];
  const std::string port = fmt::format("rack{}", rack);
  RunIp(switch_namespace, fmt::format("link add uplink type veth peer name {} netns {}\n"
                                      "link set dev uplink master bridge0\n",
                                      port, spine_.front().path()) +
                              Raise("uplink", plan_.spec));
  RunTc(switch_namespace, Shape("uplink", "root", plan_.spec, plan_.spec.uplink_bits_per_s));
  RunIp(spine_.front(),
        fmt::format("link set dev {} master bridge0\n", port) + Raise(port, plan_.spec));
  RunTc(spine_.front(), Shape(port, "root", plan_.spec, plan_.spec.uplink_bits_per_s));
}

const NetNamespace& Lab::SwitchOf(int host) const {
  const int rack = plan_.hosts[static_cast<std::size_t>(host)].rack;
  return switches_[static_cast<std::size_t>(rack)];
}

std::vector<Lab::Link> Lab::links() const {
  std::vector<Link> links;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const NetworkPlan::Host& host = plan_.hosts[i];
    links.push_back({.host = static_cast<int>(i),
                     .rate_bits_per_s = host.rate_bits_per_s,
                     .far = &hosts_[i],
                     .switch_namespace = &SwitchOf(static_cast<int>(i)),
                     .host_address = host.address,
                     .switch_address = SwitchAddress(host.rack)});
  }
  if (spine_.empty()) return links;
  for (int rack = 0; rack < plan_.spec.racks; ++rack) {
    links.push_back({.uplink = rack,
                     .rate_bits_per_s = plan_.spec.uplink_bits_per_s,
                     .far = &switches_[static_cast<std::size_t>(rack)],
                     .switch_namespace = &spine_.front(),
                     .host_address = SwitchAddress(rack),
                     .switch_address = SpineAddress()});
  }
  return links;
}

}  // namespace ringside
