#include "ringside/ring/core/host_map.h"

#include <algorithm>
#include <map>

namespace ringside {

std::vector<int> HostMap::Lane(int rank) const {
  std::vector<int> workers;
  for (const auto& on_host : hosts) workers.push_back(on_host[static_cast<std::size_t>(rank)]);
  return workers;
}

int HostMap::smallest() const {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  return static_cast<int>(std::ranges::min_element(hosts, fewer)->size());
}

HostMap MapHosts(int rank, std::span<const std::string> names) {
  HostMap map;
  std::map<std::string, std::size_t> index_of;
  for (std::size_t worker = 0; worker < names.size(); ++worker) {
    const auto [found, is_new] = index_of.emplace(names[worker], map.hosts.size());
    if (is_new) map.hosts.emplace_back();
    auto& workers = map.hosts[found->second];
    if (static_cast<int>(worker) == rank) {
      map.host = static_cast<int>(found->second);
      map.here.rank = static_cast<int>(workers.size());
    }
    workers.push_back(static_cast<int>(worker));
  }
  map.here.workers = map.hosts[static_cast<std::size_t>(map.host)];
  return map;
}

}  // namespace ringside
