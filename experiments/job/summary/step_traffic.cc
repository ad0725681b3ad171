#include "ringside/experiments/job/summary/step_traffic.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

using HostFlows = std::vector<HostFlow>;

HostFlows RingFlows(const std::vector<int>& hosts, double bytes_per_edge) {
  HostFlows flows;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    flows.push_back({hosts[i], hosts[(i + 1) % hosts.size()], bytes_per_edge});
  }
  return flows;
}

/// A host sums its workers' gradients before they leave it. What is gathered is not summed: it goes
/// round with the blocks of all workers of a host.
HostFlows RingOfHostsFlows(const NetworkPlan& plan, const CostInput& input, const Cost& cost,
                           bool gathered) {
  const std::set<int> hosts(plan.worker_hosts.begin(), plan.worker_hosts.end());
  const auto count = static_cast<double>(hosts.size());
  const double workers_a_host = static_cast<double>(plan.worker_hosts.size()) / count;
  const double of_a_worker = gathered ? (count - 1) * input.bytes : cost.bytes_sent_per_worker;
  return RingFlows({hosts.begin(), hosts.end()}, of_a_worker * workers_a_host);
}

/// The host of each server, and the server's part of the parameters.
struct PlacedServer {
  int host = 0;
  double share = 0;
};

/// A server in a worker owns less than a dedicated one, so that all links finish together
/// (`MixedServerCost`). Servers of one kind own equal parts.
std::vector<PlacedServer> PlaceServers(const RunSpec& spec, const NetworkPlan& plan) {
  const ServerLayout layout = LayoutServers(spec);
  const double n = spec.workers;
  const double k = layout.dedicated;
  double inside = layout.colocated > 0 ? 1.0 / layout.colocated : 0;
  double dedicated = layout.dedicated > 0 ? 1.0 / layout.dedicated : 0;
  if (layout.colocated > 0 && layout.dedicated > 0) {
    inside = (n - k) / (n * n + k * n - 2 * k);
    dedicated = (1 - n * inside) / k;
  }
  std::vector<PlacedServer> servers;
  for (int s = 0; s < layout.colocated; ++s) {
    servers.push_back({plan.worker_hosts[static_cast<std::size_t>(s)], inside});
  }
  for (const int host : plan.server_hosts) servers.push_back({host, dedicated});
  return servers;
}

HostFlows ServerFlows(const RunSpec& spec, const NetworkPlan& plan, const CostInput& input) {
  const double pull = input.pull_bytes > 0 ? input.pull_bytes : input.bytes;
  HostFlows flows;
  for (const PlacedServer& server : PlaceServers(spec, plan)) {
    for (const int worker : plan.worker_hosts) {
      flows.push_back({worker, server.host, server.share * input.bytes});
      flows.push_back({server.host, worker, server.share * pull});
    }
  }
  return flows;
}

HostFlows OnHosts(const Phase& phase, const NetworkPlan& plan, double bytes) {
  HostFlows flows;
  for (const Flow& flow : phase) {
    flows.push_back({plan.worker_hosts[static_cast<std::size_t>(flow.from)],
                     plan.worker_hosts[static_cast<std::size_t>(flow.to)], flow.share * bytes});
  }
  return flows;
}

/// All that the traffic of a strategy depends on besides the strategy.
struct TrafficInput {
  const RunSpec& spec;
  const NetworkPlan& plan;
  const CostInput& cost_input;
  bool gathered = false;
};

TrafficTimes TimesOf(const StepTraffic& traffic) {
  return {traffic.OverlappedSeconds(), traffic.SequentialSeconds()};
}

/// What every all-reduce of `bytes` needs at least.
double AnyAllReduceSeconds(const NetworkPlan& plan, double bytes) {
  const std::set<int> hosts(plan.worker_hosts.begin(), plan.worker_hosts.end());
  if (hosts.size() < 2) return 0;
  StepTraffic once(plan);  // one edge of the ring leaves each host and each rack
  once.AddPhase(RingFlows({hosts.begin(), hosts.end()}, bytes));
  double bytes_per_s = 0;
  for (const int host : hosts) {
    bytes_per_s +=
        GoodputBytesPerSecond(plan.hosts[static_cast<std::size_t>(host)].rate_bits_per_s);
  }
  const double all_bytes = 2 * static_cast<double>(hosts.size() - 1) * bytes;
  return std::max(once.OverlappedSeconds(), all_bytes / bytes_per_s);
}

std::optional<TrafficTimes> TrafficOf(const StrategyEntry& entry, const TrafficInput& input,
                                      const Cost& cost);

std::optional<TrafficTimes> TimesOfChoices(const StrategyEntry& chooser,
                                           const TrafficInput& input) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const std::string& name : chooser.chooses_among) {
    const StrategyEntry* choice = input.spec.catalog().FindStrategy(name);
    if (choice == nullptr || !choice->chooses_among.empty()) return std::nullopt;
    const auto times = TrafficOf(*choice, input, choice->bound(input.cost_input));
    if (!times) return std::nullopt;
    least_s = std::min(least_s, times->sequential_s);
  }
  const double any_s = AnyAllReduceSeconds(input.plan, input.cost_input.bytes);
  return TrafficTimes{any_s, std::max(any_s, least_s)};
}

/// What is gathered goes round a ring, whatever the strategy does with sums.
bool GoesRoundARing(const StrategyEntry& entry, bool gathered) {
  if (entry.traits.topology == Topology::kRing) return true;
  return gathered && (entry.traffic != nullptr || !entry.chooses_among.empty());
}

std::optional<TrafficTimes> TrafficOf(const StrategyEntry& entry, const TrafficInput& input,
                                      const Cost& cost) {
  const auto& [spec, plan, cost_input, gathered] = input;
  StepTraffic traffic(plan);
  switch (entry.traits.topology) {
    case Topology::kRingOfHosts:
      traffic.AddPhase(RingOfHostsFlows(plan, cost_input, cost, gathered));
      return TimesOf(traffic);
    case Topology::kServers:
      traffic.AddPhase(ServerFlows(spec, plan, cost_input));
      return TimesOf(traffic);
    case Topology::kRing:
    case Topology::kAllReduce:
      break;
    default:
      return std::nullopt;
  }
  if (GoesRoundARing(entry, gathered)) {
    traffic.AddPhase(RingFlows(plan.worker_hosts, cost.bytes_sent_per_worker));
    return TimesOf(traffic);
  }
  if (!entry.chooses_among.empty()) return TimesOfChoices(entry, input);
  if (entry.traffic == nullptr) return std::nullopt;
  for (const Phase& phase : entry.traffic(spec.workers)) {
    traffic.AddPhase(OnHosts(phase, plan, cost_input.bytes));
  }
  return TimesOf(traffic);
}

}  // namespace

StepTraffic::StepTraffic(const NetworkPlan& plan)
    : plan_(plan), seconds_(2 * (plan.hosts.size() + static_cast<std::size_t>(plan.spec.racks))) {}

void StepTraffic::Add(const HostFlow& flow, std::vector<double>& seconds) const {
  if (flow.from == flow.to) return;
  const auto from = static_cast<std::size_t>(flow.from);
  const auto to = static_cast<std::size_t>(flow.to);
  seconds[2 * from] += flow.bytes / GoodputBytesPerSecond(plan_.hosts[from].rate_bits_per_s);
  seconds[2 * to + 1] += flow.bytes / GoodputBytesPerSecond(plan_.hosts[to].rate_bits_per_s);
  if (plan_.hosts[from].rack == plan_.hosts[to].rack) return;
  const double uplink_s = flow.bytes / GoodputBytesPerSecond(plan_.spec.uplink_bits_per_s);
  const auto uplink = [&](std::size_t host) {
    return 2 * (plan_.hosts.size() + static_cast<std::size_t>(plan_.hosts[host].rack));
  };
  seconds[uplink(from)] += uplink_s;
  seconds[uplink(to) + 1] += uplink_s;
}

void StepTraffic::AddPhase(const std::vector<HostFlow>& flows) {
  std::vector<double> seconds(seconds_.size());
  for (const HostFlow& flow : flows) Add(flow, seconds);
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds_[i] += seconds[i];
  sequential_s_ += std::ranges::max(seconds);
}

double StepTraffic::OverlappedSeconds() const { return std::ranges::max(seconds_); }

std::optional<TrafficTimes> TrafficOf(const RunSpec& spec, const NetworkPlan& plan,
                                      const CostInput& input, const Cost& cost, bool gathered) {
  return TrafficOf(*spec.catalog().FindStrategy(spec.strategy), {spec, plan, input, gathered},
                   cost);
}

}  // namespace ringside
