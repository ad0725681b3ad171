#include "ringside/experiments/job/summary/step_bound.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"

namespace ringside {
namespace {

CostInput InputOf(const RunSpec& spec, int hosts, double gradient_bytes, double parameter_bytes) {
  CostInput input;
  input.workers = spec.workers;
  input.hosts = hosts;
  input.servers = spec.servers;
  input.colocated = spec.colocated;
  input.bytes = gradient_bytes;
  input.pull_bytes = parameter_bytes;
  input.bytes_per_s = GoodputBytesPerSecond(spec.link_bits_per_s);
  input.latency_s = spec.link_latency_s;
  input.sync_every = StepsPerSum(spec);
  return input;
}

/// Whether the strategy's formula fits the hosts. Formulas assume a link for every worker and every
/// dedicated server, except those that count hosts. With uneven rates, a formula must also give all
/// workers the same number of bytes.
bool FormulaKnowsHosts(const StrategyEntry& entry, const RunSpec& spec, const NetworkPlan& plan,
                       const CostInput& input) {
  const ServerLayout layout = LayoutServers(spec);
  if (plan.spec.servers_on_workers && layout.dedicated > 0) return false;
  if (!plan.spec.rates.empty() && layout.colocated > 0) {
    return layout.dedicated == 0 && layout.colocated == spec.workers;
  }
  const std::set<int> shared(plan.worker_hosts.begin(), plan.worker_hosts.end());
  if (static_cast<int>(shared.size()) == spec.workers) return true;
  CostInput alone = input;
  alone.hosts = 0;
  return entry.bound(alone).seconds != entry.bound(input).seconds;
}

/// The time of the slowest host. `link_bits_per_s` is the rate of the fastest one.
double SlowestHostSeconds(const NetworkPlan& plan, const Cost& cost) {
  if (plan.spec.rates.empty()) return 0;
  const auto seconds = [&](int host, double bytes) {
    const auto& own = plan.hosts[static_cast<std::size_t>(host)];
    return bytes / GoodputBytesPerSecond(own.rate_bits_per_s);
  };
  double slowest = 0;
  for (const int host : plan.worker_hosts) {
    slowest = std::max(slowest, seconds(host, std::max(cost.bytes_sent_per_worker,
                                                       cost.bytes_received_per_worker)));
  }
  for (const int host : plan.server_hosts) {
    slowest = std::max(slowest, seconds(host, cost.bytes_per_server));
  }
  return slowest;
}

/// Bytes that leave and enter each rack.
class RackTraffic {
 public:
  explicit RackTraffic(const NetworkPlan& plan)
      : plan_(plan),
        out_(static_cast<std::size_t>(plan.spec.racks)),
        in_(static_cast<std::size_t>(plan.spec.racks)) {}

  void Add(int from_host, int to_host, double bytes) {
    const std::size_t from = RackOf(from_host);
    const std::size_t to = RackOf(to_host);
    if (from == to) return;
    out_[from] += bytes;
    in_[to] += bytes;
  }

  /// The bytes in the busiest direction of the busiest uplink.
  double Busiest() const { return std::max(std::ranges::max(out_), std::ranges::max(in_)); }

 private:
  std::size_t RackOf(int host) const {
    return static_cast<std::size_t>(plan_.hosts[static_cast<std::size_t>(host)].rack);
  }

  const NetworkPlan& plan_;
  std::vector<double> out_;
  std::vector<double> in_;
};

void AddRing(const std::vector<int>& hosts, double bytes_per_edge, RackTraffic& traffic) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    traffic.Add(hosts[i], hosts[(i + 1) % hosts.size()], bytes_per_edge);
  }
}

void AddServers(const NetworkPlan& plan, const CostInput& input, RackTraffic& traffic) {
  const double share = 1.0 / input.servers;
  const double pull = input.pull_bytes > 0 ? input.pull_bytes : input.bytes;
  for (int server = 0; server < input.servers; ++server) {
    const auto index = static_cast<std::size_t>(server);
    const int there = input.colocated ? plan.worker_hosts[index] : plan.server_hosts[index];
    for (const int worker : plan.worker_hosts) {
      traffic.Add(worker, there, share * input.bytes);
      traffic.Add(there, worker, share * pull);
    }
  }
}

/// The bytes over the busiest uplink; absent when no formula says who sends to whom.
std::optional<double> UplinkBytes(const StrategyEntry& entry, const NetworkPlan& plan,
                                  const CostInput& input, const Cost& cost) {
  RackTraffic traffic(plan);
  switch (entry.traits.topology) {
    case Topology::kRing:
      AddRing(plan.worker_hosts, cost.bytes_sent_per_worker, traffic);
      break;
    case Topology::kRingOfHosts: {
      const std::set<int> hosts(plan.worker_hosts.begin(), plan.worker_hosts.end());
      const double workers_a_host = input.workers / static_cast<double>(hosts.size());
      AddRing({hosts.begin(), hosts.end()}, cost.bytes_sent_per_worker * workers_a_host, traffic);
      break;
    }
    case Topology::kServers:
      if (entry.traits.servers != ServerPlacement::kAsAsked) return std::nullopt;
      AddServers(plan, input, traffic);
      break;
    default:
      return std::nullopt;
  }
  return traffic.Busiest();
}

bool UsesLinks(const StrategyEntry& entry, const RunSpec& spec) {
  return entry.traits.topology != Topology::kNone && !OneHostNeedOf(spec);
}

/// The cost within one host: no link carries bytes, but servers still receive them.
Cost WithoutLinks(const Cost& cost) { return {.bytes_per_server = cost.bytes_per_server}; }

void AddTime(const StrategyEntry& entry, const RunSpec& spec, const CostInput& input,
             StepBound& bound) {
  double seconds = bound.cost.seconds;
  if (spec.network && UsesLinks(entry, spec)) {
    const NetworkPlan plan =
        PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
    if (!FormulaKnowsHosts(entry, spec, plan, input)) {
      bound.missing = "no formula counts processes that share a host's link";
      return;
    }
    seconds = std::max(seconds, SlowestHostSeconds(plan, bound.cost));
    if (plan.spec.racks > 1) {
      const std::optional<double> bytes = UplinkBytes(entry, plan, input, bound.cost);
      if (!bytes) {
        bound.missing = "no formula counts the bytes over the uplinks of racks";
        return;
      }
      seconds = std::max(seconds, *bytes / GoodputBytesPerSecond(plan.spec.uplink_bits_per_s));
    }
  }
  bound.comm_ms = seconds * 1000;
}

}  // namespace

std::optional<StepBound> BoundOf(const RunSpec& spec, int hosts, double gradient_bytes,
                                 double parameter_bytes) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || entry->bound == nullptr) return std::nullopt;
  const CostInput input = InputOf(spec, hosts, gradient_bytes, parameter_bytes);
  const bool gathered = entry->traits.family == Family::kRing &&
                        spec.options.codec.entry->scheme == AggregationScheme::kGathered;
  StepBound bound;
  bound.cost = gathered ? GatherCost(input) : entry->bound(input);
  if (!UsesLinks(*entry, spec)) bound.cost = WithoutLinks(bound.cost);
  if (spec.link_bits_per_s > 0) AddTime(*entry, spec, input, bound);
  return bound;
}

}  // namespace ringside
