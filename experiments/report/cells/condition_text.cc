#include "ringside/experiments/report/cells/condition_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace ringside {
namespace {

using nlohmann::json;

std::string RateText(double bits_per_s) {
  struct Unit {
    double scale;
    const char* name;
  };
  constexpr std::array kUnits{Unit{1e9, "Gbit/s"}, Unit{1e6, "Mbit/s"}, Unit{1e3, "kbit/s"}};
  for (const Unit& unit : kUnits) {
    if (bits_per_s >= unit.scale) return fmt::format("{} {}", bits_per_s / unit.scale, unit.name);
  }
  return fmt::format("{} bit/s", bits_per_s);
}

std::string LinksText(const NetworkSpec& network) {
  std::vector<std::string> rates;
  for (const double rate : network.rates) rates.push_back(RateText(rate));
  const std::string listed = fmt::format("{}", fmt::join(rates, ", "));
  if (network.rate_bits_per_s == 0) return "links of " + listed;
  std::string text = "links of " + RateText(network.rate_bits_per_s);
  if (rates.empty()) return text;
  return text + (rates.size() == 1 ? fmt::format(" but that of host 0, {}", listed)
                                   : fmt::format(" but those of the first hosts, {}", listed));
}

std::string NetworkWords(const NetworkSpec& network) {
  std::string text = LinksText(network);
  if (network.hosts > 0) {
    text += fmt::format(", workers on {} host{}", network.hosts, network.hosts == 1 ? "" : "s");
  }
  if (network.racks > 1) {
    text += fmt::format(" in {} racks with uplinks of {}", network.racks,
                        RateText(network.uplink_bits_per_s));
  }
  if (network.latency_s > 0)
    text += fmt::format(", {:.12g} us of latency", network.latency_s * 1e6);
  if (network.jitter_s > 0) text += fmt::format(", {:.12g} us of jitter", network.jitter_s * 1e6);
  if (network.loss > 0) text += fmt::format(", {:.12g} % of packets lost", network.loss * 100);
  if (network.servers_on_workers) text += ", servers on the workers' hosts";
  if (network.congestion != kDefaultCongestion) text += " under " + network.congestion;
  return text;
}

std::string StragglerWords(const StragglerOptions& straggler) {
  switch (straggler.kind) {
    case StragglerOptions::Kind::kNone:
      return "no straggler";
    case StragglerOptions::Kind::kPermanent:
      return fmt::format("worker {} slowed {} times", straggler.worker, straggler.factor);
    case StragglerOptions::Kind::kRotating:
      return fmt::format("one worker after the other slowed {} times, {} steps each",
                         straggler.factor, straggler.every);
    case StragglerOptions::Kind::kRandom:
      return fmt::format("every worker slowed {} times in {:.12g} % of its steps, at random",
                         straggler.factor, straggler.probability * 100);
  }
  return "";
}

}  // namespace

std::string ConditionText(const SpecKey& key, const RunSpec& spec) {
  if (key.json_name == "network") {
    return spec.network ? NetworkWords(*spec.network) : "no emulated network";
  }
  if (key.json_name == "straggler") return StragglerWords(spec.straggler);
  if (key.json_name == "compute_ms") return fmt::format("{} ms of compute", spec.compute_ms);
  if (key.json_name == "link_bits_per_s") {
    if (spec.link_bits_per_s == 0) return "no declared link";
    return "declared links of " + RateText(spec.link_bits_per_s);
  }
  const json value = key.get(spec);
  if (value.is_string()) return fmt::format("{} {}", key.name, value.get<std::string>());
  if (value.is_number() && key.unit > 0) {
    return fmt::format("{} {}", key.name, value.get<double>() / key.unit);
  }
  return fmt::format("{} {}", key.name, value.dump());
}

}  // namespace ringside
