#include "ringside/experiments/job/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// The slots of a list of hosts that are still free.
class FreeSlots {
 public:
  FreeSlots(const ClusterHosts& cluster, Placement& placement)
      : cluster_(cluster), placement_(placement), used_(cluster.hosts.size(), -1) {}

  /// Puts `count` processes on hosts, where `slots_of` says how many a host may take. Returns how
  /// many found a place.
  template <typename SlotsOf>
  int Fill(int count, std::vector<int>& hosts, const SlotsOf& slots_of) {
    int placed = 0;
    for (std::size_t host = 0; host < cluster_.hosts.size(); ++host) {
      const int here = std::min(count - placed, slots_of(host));
      if (here < 1) continue;
      hosts.insert(hosts.end(), static_cast<std::size_t>(here), Index(host));
      placed += here;
    }
    return placed;
  }

 private:
  int Index(std::size_t host) {
    if (used_[host] < 0) {
      used_[host] = static_cast<int>(placement_.hosts.size());
      placement_.hosts.push_back(cluster_.hosts[host].name);
    }
    return used_[host];
  }

  const ClusterHosts& cluster_;
  Placement& placement_;
  std::vector<int> used_;
};

[[noreturn]] void RefuseTooFew(const ClusterHosts& cluster, const char* what, int wanted, int slots,
                               const char* kind) {
  throw ConfigError(fmt::format("{}: {} {}{} need a slot each, but the {} host{} listed {} {} {}",
                                cluster.origin, wanted, what, wanted == 1 ? "" : "s",
                                cluster.hosts.size(), cluster.hosts.size() == 1 ? "" : "s",
                                cluster.hosts.size() == 1 ? "has" : "have", slots, kind));
}

int CountBefore(const std::vector<int>& hosts, int index) {
  const auto end = hosts.begin() + index;
  return static_cast<int>(std::count(hosts.begin(), end, hosts[static_cast<std::size_t>(index)]));
}

}  // namespace

Member Placement::MemberOf(int process) const {
  const int worker_count = static_cast<int>(workers.size());
  if (process < worker_count) return {Role::kWorker, process};
  return {Role::kServer, process - worker_count};
}

const std::string& Placement::HostOf(int process) const { return HostOf(MemberOf(process)); }

const std::string& Placement::HostOf(const Member& member) const {
  const std::vector<int>& indices = member.role == Role::kWorker ? workers : servers;
  return hosts.at(static_cast<std::size_t>(indices.at(static_cast<std::size_t>(member.index))));
}

LocalPlace Placement::PlaceOf(const Member& worker) const {
  const int host = workers.at(static_cast<std::size_t>(worker.index));
  return {CountBefore(workers, worker.index), static_cast<int>(std::ranges::count(workers, host))};
}

Placement PlaceHere(int workers, int servers) {
  return {.hosts = {""},
          .workers = std::vector<int>(static_cast<std::size_t>(workers), 0),
          .servers = std::vector<int>(static_cast<std::size_t>(servers), 0)};
}

Placement PlaceOn(const ClusterHosts& cluster, int workers, int servers) {
  const bool servers_apart = std::ranges::any_of(
      cluster.hosts, [](const ClusterHost& host) { return host.servers.has_value(); });
  const auto for_servers = [&](std::size_t host) {
    return cluster.hosts[host].servers.value_or(0);
  };
  const auto for_workers = [&](std::size_t host) {
    return cluster.hosts[host].slots - for_servers(host);
  };
  Placement placement;
  FreeSlots slots(cluster, placement);
  int worker_slots = 0, server_slots = 0;
  for (std::size_t host = 0; host < cluster.hosts.size(); ++host) {
    worker_slots += for_workers(host);
    server_slots += for_servers(host);
  }
  if (slots.Fill(workers, placement.workers, for_workers) < workers) {
    RefuseTooFew(cluster, "worker", workers, worker_slots,
                 servers_apart ? "slots for workers" : "slots");
  }
  if (servers_apart) {
    if (slots.Fill(servers, placement.servers, for_servers) < servers) {
      RefuseTooFew(cluster, "dedicated server", servers, server_slots, "slots for servers");
    }
    return placement;
  }
  // Servers take the slots that the workers have left.
  int taken = workers;
  const auto left = [&](std::size_t host) {
    const int by_workers = std::min(taken, cluster.hosts[host].slots);
    taken -= by_workers;
    return cluster.hosts[host].slots - by_workers;
  };
  if (slots.Fill(servers, placement.servers, left) < servers) {
    throw ConfigError(fmt::format(
        "{}: {} workers and {} dedicated servers need a slot each, but there are {} slots",
        cluster.origin, workers, servers, worker_slots));
  }
  return placement;
}

void to_json(nlohmann::json& json, const Placement& placement) {
  json = {
      {"hosts", placement.hosts}, {"workers", placement.workers}, {"servers", placement.servers}};
}

void from_json(const nlohmann::json& json, Placement& placement) {
  json.at("hosts").get_to(placement.hosts);
  json.at("workers").get_to(placement.workers);
  json.at("servers").get_to(placement.servers);
}

}  // namespace ringside
