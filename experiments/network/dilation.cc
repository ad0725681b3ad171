#include "ringside/experiments/network/dilation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr double kBitsPerSecondOfOneCore = 2.5e9;

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
        "than {:.0f}; give at most {:.4g}",
        dilation.factor, slowest, kSlowestLinkBitsPerSecond,
        network.slowest_bits_per_s() / kSlowestLinkBitsPerSecond));
  }
  const double delay = network.latency_s * dilation.factor;
  if (delay > kLongestDelaySeconds) {
    throw ConfigError(fmt::format(
        "with a factor of {}, the latency would be {:.3g} s of the machine's time, more than {} s",
        dilation.factor, delay, kLongestDelaySeconds));
  }
}

double ChooseDilation(const Dilation& dilation, const NetworkPlan& plan, int cores) {
  if (!dilation.automatic) return dilation.factor;
  double wanted = 0;
  for (const NetworkPlan::Host& host : plan.hosts) {
    wanted += 1 + host.rate_bits_per_s / kBitsPerSecondOfOneCore;
  }
  return std::max(1.0, std::min(std::ceil(wanted / cores), std::floor(MostDilation(plan.spec))));
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
