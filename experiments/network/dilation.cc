#include "ringside/experiments/network/dilation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::string_view kAuto = "auto";

/// The largest factor with which every link and every delay can still be emulated.
double MostDilation(const NetworkSpec& network) {
  const double delay = std::max(network.latency_s, network.jitter_s);
  const double by_delay = delay > 0 ? kLongestDelaySeconds / delay : kMostDilation;
  return std::min(
      {kMostDilation, network.slowest_bits_per_s() / kSlowestLinkBitsPerSecond, by_delay});
}

}  // namespace

Dilation ParseDilation(std::string_view text) {
  if (text == kAuto) return {.automatic = true};
  double factor = 0;
  try {
    factor = ParseReal(text);
  } catch (const ConfigError&) {
    throw ConfigError(
        fmt::format("'{}' is no factor of time: a number such as 10, or {}", text, kAuto));
  }
  if (factor < 1) {
    throw ConfigError(fmt::format(
        "a factor of {} would ask the machine to be faster than it is; give 1 or more, or {}",
        factor, kAuto));
  }
  if (!(factor <= kMostDilation)) {
    throw ConfigError(fmt::format("a factor of {} is more than {}: TCP cannot wait so long", factor,
                                  kMostDilation));
  }
  return {.factor = factor};
}

std::string DilationText(const Dilation& dilation) {
  return dilation.automatic ? std::string(kAuto) : fmt::format("{}", dilation.factor);
}

void CheckDilation(const Dilation& dilation, const NetworkSpec& network) {
  if (dilation.automatic) return;
  const double slowest = network.slowest_bits_per_s() / dilation.factor;
  if (slowest < kSlowestLinkBitsPerSecond) {
    throw ConfigError(fmt::format(
        "with a factor of {}, the slowest link would have {:.3g} bit/s of the machine's time, less "
        "than {:.0f}; give at most {}",
        dilation.factor, slowest, kSlowestLinkBitsPerSecond,
        std::floor(10 * network.slowest_bits_per_s() / kSlowestLinkBitsPerSecond) / 10));
  }
  const double delay = network.latency_s * dilation.factor;
  if (delay > kLongestDelaySeconds) {
    throw ConfigError(fmt::format(
        "with a factor of {}, the latency would be {:.3g} s of the machine's time, more than {} s",
        dilation.factor, delay, kLongestDelaySeconds));
  }
}

double MostBitsPerSecond(const NetworkPlan& plan, bool workers_exchange) {
  double all = 0;
  for (const NetworkPlan::Host& host : plan.hosts) all += host.rate_bits_per_s;
  if (workers_exchange || plan.server_hosts.empty() || plan.spec.servers_on_workers) return all;
  double servers = 0;
  for (const int host : plan.server_hosts) {
    servers += plan.hosts[static_cast<std::size_t>(host)].rate_bits_per_s;
  }
  return 2 * std::min(servers, all - servers);
}

double NeededDilation(double bits_per_s, int cores) {
  return std::max(1.0, std::ceil(bits_per_s / (kBitsPerSecondOfACore * cores)));
}

double ChooseDilation(const Dilation& dilation, const NetworkPlan& plan, double bits_per_s,
                      int cores) {
  if (!dilation.automatic) return dilation.factor;
  const double most = std::max(1.0, std::floor(MostDilation(plan.spec)));
  return std::min(NeededDilation(bits_per_s, cores), most);
}

NetworkPlan Dilated(NetworkPlan plan, double factor) {
  plan.dilation *= factor;
  NetworkSpec& spec = plan.spec;
  for (double& rate : spec.rates) rate /= factor;
  for (NetworkPlan::Host& host : plan.hosts) host.rate_bits_per_s /= factor;
  spec.rate_bits_per_s /= factor;
  spec.uplink_bits_per_s /= factor;
  spec.latency_s *= factor;
  spec.jitter_s *= factor;
  return plan;
}

}  // namespace ringside
