#include "ringside/experiments/report/cells/condition_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
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
  const std::string listed = fmt::format("{}", fmt::join(rates, " and "));
  if (network.rate_bits_per_s == 0) return "at " + listed;
  std::string text = "at " + RateText(network.rate_bits_per_s);
  if (rates.empty()) return text;
  return text + (rates.size() == 1 ? ", host 0 at " : ", the first hosts at ") + listed;
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

// "hidden layers 2048, 2048": the elements of a list, not its brackets.
std::string ListWords(const json& list) {
  std::vector<std::string> words;
  for (const json& element : list) {
    words.push_back(element.is_string() ? element.get<std::string>() : element.dump());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string PlainValue(const json& value, double unit) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) return ListWords(value);
  if (value.is_number() && unit > 0) return fmt::format("{}", value.get<double>() / unit);
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

// Numbers that have a noun of their own: "32 samples a worker".
struct Counted {
  std::string_view key;
  std::string_view one;
  std::string_view many;
};
constexpr std::array kCounted{Counted{"global_batch", "sample a step", "samples a step"},
                              Counted{"batch_per_worker", "sample a worker", "samples a worker"},
                              Counted{"steps", "step", "steps"},
                              Counted{"epochs", "epoch", "epochs"},
                              Counted{"hosts", "host", "hosts"}};

std::string NumberWords(const Counted& noun, const std::string& number) {
  return fmt::format("{} {}", number, number == "1" ? noun.one : noun.many);
}

// Rounds nothing, because different sizes need different texts.
std::string ExactBytes(std::int64_t bytes) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  if (bytes % kMebibyte == 0) return fmt::format("{} MiB", bytes / kMebibyte);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

bool IsRate(const std::string& condition) { return condition.starts_with("at "); }

std::string_view WithoutSuffix(std::string_view name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
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
    return fmt::format("at {} (declared)", RateText(spec.link_bits_per_s));
  }
  const json value = key.get(spec);
  if (key.json_name == "bucket_bytes") {
    return value == json(0) ? "a bucket for each tensor"
                            : "buckets of " + ExactBytes(value.get<std::int64_t>());
  }
  const std::string plain = PlainValue(value, key.unit);
  const auto counted = std::ranges::find(kCounted, key.json_name, &Counted::key);
  if (counted != kCounted.end()) return NumberWords(*counted, plain);
  const std::string title = KeyTitle(key.json_name);
  return plain.empty() ? fmt::format("no {} named", title) : fmt::format("{} {}", title, plain);
}

std::string AfterNoun(std::vector<std::string> conditions) {
  const auto rest = std::ranges::stable_partition(conditions, IsRate);
  const bool rated = rest.begin() != conditions.begin();
  std::string text;
  for (const std::string& condition : conditions) {
    text += (text.empty() && rated ? " " : ", ") + condition;
  }
  return text;
}

std::string KeyTitle(std::string_view json_name) {
  for (const std::string_view unit : {"_bits_per_s", "_bytes", "_ms"}) {
    json_name = WithoutSuffix(json_name, unit);
  }
  std::string title(json_name);
  std::ranges::replace(title, '_', ' ');
  return title;
}

std::string ValueText(std::string_view json_name, const std::string& condition) {
  for (const std::string& start : {std::string("at "), KeyTitle(json_name) + ' '}) {
    if (condition.starts_with(start)) return condition.substr(start.size());
  }
  return condition;
}

}  // namespace ringside
