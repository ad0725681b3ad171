#include "ringside/experiments/network/network_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 10> kNames{"hosts",   "rate",      "rates",  "racks",
                                                  "uplink",  "latency",   "jitter", "loss",
                                                  "servers", "congestion"};
constexpr std::string_view kOwnHosts = "own";
constexpr std::string_view kWorkerHosts = "workers";
constexpr double kFastestLink = 1e12;           // the shaper cannot express a higher rate
constexpr std::size_t kLongestCongestion = 15;  // of a name in the kernel (TCP_CA_NAME_MAX)

double Rate(const std::string& text) {
  const double rate = ParseBitsPerSecond(text);
  if (rate >= kSlowestLinkBitsPerSecond && rate <= kFastestLink) return rate;
  throw ConfigError(fmt::format("'{}' is no rate of a link: from 1Mbps to 1Tbps", text));
}

std::vector<double> Rates(std::string_view text) {
  std::vector<double> rates;
  while (true) {
    const std::size_t colon = text.find(':');
    rates.push_back(Rate(std::string(text.substr(0, colon))));
    if (colon == std::string_view::npos) return rates;
    text.remove_prefix(colon + 1);
  }
}

double Delay(const std::string& text) {
  const double seconds = ParseSeconds(text);
  if (seconds >= 0 && seconds <= kLongestDelaySeconds) return seconds;
  throw ConfigError(fmt::format("'{}' is no delay: from 0 to 10s", text));
}

double Loss(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const double loss = ParseReal(text) / (percent ? 100 : 1);
  if (loss >= 0 && loss < 1) return loss;
  throw ConfigError(fmt::format("'{}' is no share of packets: from 0 to below 1, or 0.1%", text));
}

int Count(const std::string& text, const char* what) {
  const std::int64_t count = ParseInteger(text);
  if (count >= 1 && count <= kMaxHosts) return static_cast<int>(count);
  throw ConfigError(fmt::format("give 1 to {} {}, not {}", kMaxHosts, what, count));
}

bool OnWorkers(const std::string& text) {
  if (text == kOwnHosts || text == kWorkerHosts) return text == kWorkerHosts;
  throw ConfigError(
      fmt::format("'{}' is no place for servers: {} (hosts) or {}", text, kOwnHosts, kWorkerHosts));
}

// Only the kernel knows which names it has (`WhyNoLab`). The characters are limited because the
// name becomes a word of a script.
std::string Congestion(const std::string& text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (text.size() <= kLongestCongestion && std::ranges::all_of(text, allowed)) return text;
  throw ConfigError(
      fmt::format("'{}' is no congestion control of TCP: a name such as cubic, reno or bbr", text));
}

void SetPair(NetworkSpec& spec, const std::string& name, const std::string& value) {
  if (name.empty() || name == "rate") {
    spec.rate_bits_per_s = Rate(value);
  } else if (name == "hosts") {
    spec.hosts = Count(value, "hosts");
  } else if (name == "rates") {
    spec.rates = Rates(value);
  } else if (name == "racks") {
    spec.racks = Count(value, "racks");
  } else if (name == "uplink") {
    spec.uplink_bits_per_s = Rate(value);
  } else if (name == "latency") {
    spec.latency_s = Delay(value);
  } else if (name == "jitter") {
    spec.jitter_s = Delay(value);
  } else if (name == "loss") {
    spec.loss = Loss(value);
  } else if (name == "servers") {
    spec.servers_on_workers = OnWorkers(value);
  } else if (name == "congestion") {
    spec.congestion = Congestion(value);
  } else {
    throw ConfigError(fmt::format("no such thing{}; there are {}", DidYouMean(name, kNames),
                                  fmt::join(kNames, ", ")));
  }
}

void Check(const NetworkSpec& spec) {
  if (spec.rate_bits_per_s == 0 && spec.rates.empty()) {
    throw ConfigError("a rate is missing: rate=1Gbps");
  }
  if (spec.racks > 1 && spec.uplink_bits_per_s == 0) {
    throw ConfigError(
        fmt::format("{} racks need the rate of their uplinks: uplink=1Gbps", spec.racks));
  }
  if (spec.racks == 1 && spec.uplink_bits_per_s > 0) {
    throw ConfigError("an uplink belongs to racks: racks=2");
  }
  if (spec.jitter_s > spec.latency_s) {
    throw ConfigError(
        "a jitter longer than the latency would need packets that arrive before they "
        "leave");
  }
}

/// The shortest spelling that reads back to the same number.
std::string RateText(double rate) {
  for (const auto& [factor, unit] : {std::pair{1e9, "Gbps"}, {1e6, "Mbps"}, {1e3, "kbps"}}) {
    if (std::fmod(rate, factor) == 0) return fmt::format("{}{}", rate / factor, unit);
  }
  return fmt::format("{}bps", rate);
}

std::string DelayText(double seconds) {
  for (const auto& [factor, unit] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}) {
    std::string text = fmt::format("{:.12g}{}", seconds / factor, unit);
    if (seconds >= factor && ParseSeconds(text) == seconds) return text;
  }
  return fmt::format("{}s", seconds);
}

std::string RatesText(const std::vector<double>& rates) {
  std::vector<std::string> words;
  for (const double rate : rates) words.push_back(RateText(rate));
  return fmt::format("{}", fmt::join(words, ":"));
}

}  // namespace

double NetworkSpec::slowest_bits_per_s() const {
  double slowest = kFastestLink;
  const auto add = [&](double rate) {
    if (rate > 0) slowest = std::min(slowest, rate);  // 0: the spec does not name this rate.
  };
  add(rate_bits_per_s);
  for (const double rate : rates) add(rate);
  add(uplink_bits_per_s);
  return slowest;
}

NetworkSpec ParseNetwork(std::string_view text) {
  NetworkSpec spec;
  for (const auto& [name, value] : ParsePairs(text)) {
    try {
      SetPair(spec, name, value);
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("{}: {}", name.empty() ? "rate" : name, error.what()));
    }
  }
  Check(spec);
  return spec;
}

std::string NetworkText(const NetworkSpec& spec) {
  std::vector<std::string> words;
  const auto add = [&](bool given, std::string_view name, const std::string& value) {
    if (given) words.push_back(fmt::format("{}={}", name, value));
  };
  add(spec.hosts > 0, "hosts", std::to_string(spec.hosts));
  add(spec.rate_bits_per_s > 0, "rate", RateText(spec.rate_bits_per_s));
  add(!spec.rates.empty(), "rates", RatesText(spec.rates));
  add(spec.racks > 1, "racks", std::to_string(spec.racks));
  add(spec.uplink_bits_per_s > 0, "uplink", RateText(spec.uplink_bits_per_s));
  add(spec.latency_s > 0, "latency", DelayText(spec.latency_s));
  add(spec.jitter_s > 0, "jitter", DelayText(spec.jitter_s));
  add(spec.loss > 0, "loss", fmt::format("{}", spec.loss));
  add(spec.servers_on_workers, "servers", std::string(kWorkerHosts));
  add(spec.congestion != kDefaultCongestion, "congestion", spec.congestion);
  if (words.size() == 1 && spec.rate_bits_per_s > 0) return RateText(spec.rate_bits_per_s);
  return fmt::format("{}", fmt::join(words, ","));
}

}  // namespace ringside
