#include "ringside/experiments/job/summary/step_bound.h"

#include <algorithm>
#include <set>

#include "ringside/experiments/job/summary/step_traffic.h"
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

bool LinksAreEqual(const NetworkPlan& plan) {
  return plan.spec.rates.empty() && plan.spec.racks == 1;
}

/// Whether every worker and every dedicated server has a host of its own, as the formulas assume.
bool HostsAreOwn(const NetworkPlan& plan) {
  const std::set<int> shared(plan.worker_hosts.begin(), plan.worker_hosts.end());
  if (shared.size() < plan.worker_hosts.size()) return false;
  return plan.server_hosts.empty() || !plan.spec.servers_on_workers;
}

/// The part of the formula's time that is latency. Nothing delays what stays within a host, so
/// all-reduces count messages between hosts.
double LatencySeconds(const StrategyEntry& entry, CostInput input, bool gathered) {
  if (entry.traits.family == Family::kRing && input.hosts > 0) input.workers = input.hosts;
  const auto seconds = [&] { return (gathered ? GatherCost(input) : entry.bound(input)).seconds; };
  const double with_latency_s = seconds();
  input.latency_s = 0;
  return with_latency_s - seconds();
}

bool UsesLinks(const StrategyEntry& entry, const RunSpec& spec) {
  return entry.traits.topology != Topology::kNone && !OneHostNeedOf(spec);
}

/// The cost within one host: no link carries bytes, but servers still receive them.
Cost WithoutLinks(const Cost& cost) { return {.bytes_per_server = cost.bytes_per_server}; }

void AddTimeOn(const NetworkSpec& network, const StrategyEntry& entry, const RunSpec& spec,
               const CostInput& input, bool gathered, StepBound& bound) {
  const NetworkPlan plan =
      PlanNetwork(network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
  const bool own = HostsAreOwn(plan);
  bound.own_links = own && LinksAreEqual(plan);
  double seconds = own ? bound.cost.seconds : 0;
  double phases_s = seconds;
  if (!bound.own_links) {
    const std::optional<TrafficTimes> traffic = TrafficOf(spec, plan, input, bound.cost, gathered);
    if (!traffic) {
      bound.missing =
          "nobody knows which of its bytes cross which of these shared or unequal links";
      return;
    }
    const double latency_s = LatencySeconds(entry, input, gathered);
    seconds = std::max(seconds, latency_s + traffic->overlapped_s);
    phases_s = std::max(seconds, latency_s + traffic->sequential_s);
  }
  bound.comm_ms = seconds * 1000;
  bound.phases_ms = phases_s * 1000;
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
  if (spec.link_bits_per_s <= 0) return bound;
  if (spec.network && UsesLinks(*entry, spec)) {
    AddTimeOn(*spec.network, *entry, spec, input, gathered, bound);
  } else {
    bound.comm_ms = bound.phases_ms = bound.cost.seconds * 1000;
  }
  return bound;
}

}  // namespace ringside
