#include "ringside/experiments/network/network_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

double RateOf(const NetworkSpec& spec, int host) {
  const auto index = static_cast<std::size_t>(host);
  const double rate = index < spec.rates.size() ? spec.rates[index] : spec.rate_bits_per_s;
  if (rate > 0) return rate;
  throw ConfigError(
      fmt::format("rates: host {} has none: give one a host, or rate= for the others", host));
}

void CheckHosts(const NetworkSpec& spec, int hosts) {
  if (hosts > kMaxHosts) {
    throw ConfigError(fmt::format("{} hosts are more than {}", hosts, kMaxHosts));
  }
  if (spec.rates.size() > static_cast<std::size_t>(hosts)) {
    throw ConfigError(fmt::format("rates: {} rates for {} hosts", spec.rates.size(), hosts));
  }
  if (hosts % spec.racks != 0) {
    throw ConfigError(fmt::format("racks: {} racks do not divide {} hosts", spec.racks, hosts));
  }
}

std::string Address(int host) { return fmt::format("10.83.{}.{}", host / 250, host % 250 + 1); }

}  // namespace

double NetworkPlan::fastest_bits_per_s() const {
  return std::ranges::max_element(hosts, {}, &Host::rate_bits_per_s)->rate_bits_per_s;
}

double GoodputBytesPerSecond(double bits_per_s) { return bits_per_s * 1448 / 1514 / 8; }

double BitsPerSecondOfGoodput(double bytes_per_s) { return bytes_per_s * 8 * 1514 / 1448; }

int WorkerHosts(const NetworkSpec& spec, int workers, int hosts) {
  if (spec.hosts > 0 && hosts > 0 && spec.hosts != hosts) {
    throw ConfigError(
        fmt::format("it has {} hosts for workers, but the run asks for {}", spec.hosts, hosts));
  }
  const int wanted = spec.hosts > 0 ? spec.hosts : hosts > 0 ? hosts : workers;
  if (wanted > workers) {
    throw ConfigError(
        fmt::format("{} hosts for {} workers would leave some without; give at most "
                    "one per worker",
                    wanted, workers));
  }
  return wanted;
}

NetworkPlan PlanNetwork(const NetworkSpec& spec, int workers, int dedicated_servers, int hosts) {
  NetworkPlan plan;
  plan.spec = spec;
  const int with_workers = WorkerHosts(spec, workers, hosts);
  const int all = with_workers + (spec.servers_on_workers ? 0 : dedicated_servers);
  CheckHosts(spec, all);
  for (int host = 0; host < all; ++host) {
    plan.hosts.push_back({.rate_bits_per_s = RateOf(spec, host),
                          .rack = host * spec.racks / all,
                          .address = Address(host)});
  }
  for (int rank = 0; rank < workers; ++rank) {
    plan.worker_hosts.push_back(rank * with_workers / workers);
  }
  for (int server = 0; server < dedicated_servers; ++server) {
    plan.server_hosts.push_back(spec.servers_on_workers ? server % with_workers
                                                        : with_workers + server);
  }
  return plan;
}

}  // namespace ringside
