#include "ringside/experiments/lab/lab.h"

#include <fmt/format.h>

#include "ringside/experiments/lab/iproute.h"
#include "ringside/experiments/lab/node_settings.h"
#include "ringside/experiments/lab/settings_check.h"

namespace ringside {
namespace {

std::vector<NetNamespace> MakeNamespaces(std::size_t count) {
  std::vector<NetNamespace> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(NetNamespace::Make());
  return made;
}

/// Makes devices by the lines of `devices`, sets all of a node, and reads it back.
void MakeNode(const NetNamespace& where, std::string devices, const NodeSettings& node) {
  devices += IpScript(node);
  RunIp(where, devices);
  RunTc(where, TcScript(node));
  where.SetKernelSetting(kSlowStartAfterIdle, "0");
  CheckSettings(where, node);
}

}  // namespace

Lab::Lab(NetworkPlan plan, const StopCheck& check)
    : plan_(std::move(plan)),
      hosts_(MakeNamespaces(plan_.hosts.size())),
      switches_(MakeNamespaces(static_cast<std::size_t>(plan_.spec.racks))),
      spine_(MakeNamespaces(plan_.spec.racks > 1 ? 1 : 0)) {
  MakeHosts(check);
  MakeSwitches(check);
}

void Lab::MakeHosts(const StopCheck& check) const {
  const std::vector<NodeSettings> nodes = HostSettings(plan_);
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    check();
    MakeNode(hosts_[index],
             fmt::format("link add eth0 type veth peer name port{} netns {}\n", index,
                         SwitchOf(static_cast<int>(index)).path()),
             nodes[index]);
  }
}

void Lab::MakeSwitches(const StopCheck& check) const {
  const std::string bridge = "link add bridge0 type bridge\n";
  const std::vector<NodeSettings> nodes = SwitchSettings(plan_);
  for (std::size_t rack = 0; rack < switches_.size(); ++rack) {
    check();
    std::string devices = bridge;
    if (!spine_.empty()) {
      devices += fmt::format("link add uplink type veth peer name rack{} netns {}\n", rack,
                             spine_.front().path());
    }
    MakeNode(switches_[rack], devices, nodes[rack]);
  }
  if (!spine_.empty()) MakeNode(spine_.front(), bridge, SpineSettings(plan_).front());
}

const NetNamespace& Lab::SwitchOf(int host) const {
  const int rack = plan_.hosts[static_cast<std::size_t>(host)].rack;
  return switches_[static_cast<std::size_t>(rack)];
}

std::vector<Lab::Link> Lab::links() const {
  std::vector<Link> links;
  const std::vector<NodeSettings> switches = SwitchSettings(plan_);
  const auto switch_of = [&](int rack) -> const NodeSettings& {
    return switches[static_cast<std::size_t>(rack)];
  };
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const NetworkPlan::Host& host = plan_.hosts[i];
    links.push_back({.host = static_cast<int>(i),
                     .rate_bits_per_s = host.rate_bits_per_s,
                     .far = &hosts_[i],
                     .switch_namespace = &SwitchOf(static_cast<int>(i)),
                     .host_address = host.address,
                     .switch_address = switch_of(host.rack).address,
                     .congestion_control = plan_.spec.congestion});
  }
  if (spine_.empty()) return links;
  const NodeSettings spine = SpineSettings(plan_).front();
  for (int rack = 0; rack < plan_.spec.racks; ++rack) {
    links.push_back({.uplink = rack,
                     .rate_bits_per_s = plan_.spec.uplink_bits_per_s,
                     .far = &switches_[static_cast<std::size_t>(rack)],
                     .switch_namespace = &spine_.front(),
                     .host_address = switch_of(rack).address,
                     .switch_address = spine.address,
                     .congestion_control = plan_.spec.congestion});
  }
  return links;
}

std::vector<const NetNamespace*> Lab::nodes() const {
  std::vector<const NetNamespace*> nodes;
  for (const auto* group : {&hosts_, &switches_, &spine_}) {
    for (const NetNamespace& node : *group) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace ringside
