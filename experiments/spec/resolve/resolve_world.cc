#include "ringside/experiments/spec/resolve/resolve_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/resolve/refusals.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"

namespace ringside {
namespace {

constexpr int kMaxWorkers = 4096;
// With more than one server per worker the worker's own link is the limit. A few more servers can
// still help if servers compute slowly.
constexpr int kMaxServersPerWorker = 4;

/// " or take ps-sync": the first strategy of the catalog with servers; empty without one.
std::string OrTakeOneWithServers(const RunSpec& spec) {
  const auto strategies = spec.catalog().strategies();
  const auto has_servers = [](const StrategyEntry& entry) { return entry.traits.has_servers(); };
  const auto found = std::ranges::find_if(strategies, has_servers);
  return found == strategies.end() ? "" : fmt::format(" or take {}", found->name);
}

// Throws when this run needs one host and has more. `key` is the key that sets the hosts.
void RefuseSeveralHosts(const RunSpec& spec, int hosts, std::string_view key) {
  const std::optional<OneHostNeed> need = OneHostNeedOf(spec);
  if (hosts <= 1 || !need) return;
  if (need->key.empty())
    throw SpecKeyError(std::string(key),
                       fmt::format("strategy '{}' {}", spec.strategy, need->reason));
  throw SpecKeyError(need->key, fmt::format("there are {} hosts; {}", hosts, need->reason));
}

// Throws when the strategy's bytes would not use the emulated links.
void RefuseUnlinked(const RunSpec& spec, const StrategyEntry& strategy, const NetworkPlan& plan) {
  Refuse(!strategy.passes_links_by.empty(), "network", "strategy '{}' {}", spec.strategy,
         strategy.passes_links_by);
  RefuseSeveralHosts(spec, static_cast<int>(plan.hosts.size()), "network");
}

}  // namespace

void ResolveHosts(RunSpec& spec) {
  if (!spec.network || spec.workers < 1 || spec.hosts < 0) return;
  try {
    spec.hosts = WorkerHosts(*spec.network, spec.workers, spec.hosts);
  } catch (const ConfigError& error) {
    throw SpecKeyError("network", error.what());
  }
}

void ResolveNetwork(RunSpec& spec, const StrategyEntry& strategy) {
  if (!spec.network) return;
  NetworkPlan plan;
  try {
    plan = PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
  } catch (const ConfigError& error) {
    throw SpecKeyError("network", error.what());
  }
  RefuseUnlinked(spec, strategy, plan);
  const double rate = plan.fastest_bits_per_s();
  Refuse(spec.link_bits_per_s > 0 && spec.link_bits_per_s != rate, "link",
         "the links are those of the network; omit link");
  Refuse(spec.link_latency_s > 0 && spec.link_latency_s != spec.network->latency_s, "latency",
         "the latency is that of the network; omit latency");
  spec.link_bits_per_s = rate;
  spec.link_latency_s = spec.network->latency_s;
}

void CheckDilation(const RunSpec& spec) {
  if (!spec.dilation.wanted()) return;
  RefuseTogether(!spec.network, "dilation", {"network"},
                 "only an emulated network can be slowed down; add network, or omit dilation");
  if (!spec.network) return;  // refused above
  try {
    CheckDilation(spec.dilation, *spec.network);
  } catch (const ConfigError& error) {
    throw SpecKeyError("dilation", error.what(), {"network"});
  }
}

void ResolveWorld(RunSpec& spec, const StrategyEntry& strategy) {
  Refuse(spec.workers < 1, "workers", "{} workers cannot train; give at least 1", spec.workers);
  Refuse(spec.workers > kMaxWorkers, "workers", "{} workers are more than {}", spec.workers,
         kMaxWorkers);
  Refuse(spec.hosts < 0, "hosts", "hosts cannot be {}; 0 means the real hosts", spec.hosts);
  Refuse(spec.hosts > spec.workers, "hosts",
         "{} hosts for {} workers would leave some without; give at most one per worker",
         spec.hosts, spec.workers);
  RefuseSeveralHosts(spec, spec.hosts, spec.network ? "network" : "hosts");
  Refuse(spec.servers < 0, "servers", "servers cannot be {}; 0 means the strategy's default",
         spec.servers);
  if (!strategy.traits.has_servers()) {
    Refuse(spec.servers != 0 || spec.colocated || spec.servers_as_workers, "servers",
           "strategy '{}' has no servers; leave servers away{}", spec.strategy,
           OrTakeOneWithServers(spec));
    return;
  }
  const bool everywhere = strategy.traits.servers == ServerPlacement::kEveryWorker;
  Refuse(everywhere && spec.colocated, "servers",
         "strategy '{}' already has a server in every worker; give the number of further ones",
         spec.strategy);
  if (spec.servers_as_workers) {
    spec.servers = spec.workers;
    spec.servers_as_workers = false;
  }
  if (spec.servers == 0 && !everywhere) {
    spec.servers = spec.colocated ? spec.workers : 1;
  }
  Refuse(spec.colocated && spec.servers > spec.workers, "servers",
         "{} co-located servers do not fit in {} workers; give at most one per worker",
         spec.servers, spec.workers);
  Refuse(spec.servers > kMaxServersPerWorker * spec.workers, "servers",
         "{} servers for {} workers are too many: with one server per worker, the worker's own "
         "link is already the limit; give at most {}",
         spec.servers, spec.workers, kMaxServersPerWorker * spec.workers);
}

}  // namespace ringside
