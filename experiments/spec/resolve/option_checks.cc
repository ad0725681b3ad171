#include "ringside/experiments/spec/resolve/option_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bucket_sizes.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {
namespace {

// Why a value of the strategy's own options is out of range; empty: all are in range.
std::optional<OptionRefusal> CheckRanges(const StrategyEntry& strategy,
                                         const StrategyOptions& options) {
  for (const OptionDeclaration& option : strategy.options) {
    try {
      option.Check(options.ValueOf(option));
    } catch (const ConfigError& error) {
      return OptionRefusal{option.name, error.what()};
    }
  }
  return std::nullopt;
}

// Whether the strategy accepts the spec's value of this key, all other options at their defaults.
bool Takes(const StrategyEntry& strategy, const SpecKey& key, const RunSpec& spec) {
  if (!strategy.Declares(key.name)) return false;
  RunSpec alone(spec.catalog());
  SetSpecKey(alone, key, key.get(spec));
  if (CheckRanges(strategy, alone.options)) return false;
  if (strategy.check == nullptr) return true;
  const auto refusal = strategy.check(alone.options, spec.workers, spec.servers);
  return !refusal || refusal->missing_backend;
}

std::string StrategiesThatTake(const SpecKey& key, const RunSpec& spec) {
  std::vector<std::string_view> names;
  for (const StrategyEntry& entry : spec.catalog().strategies()) {
    if (Takes(entry, key, spec)) names.emplace_back(entry.name);
  }
  if (names.empty()) return "no strategy takes this value";
  return fmt::format("{} can", fmt::join(names, ", "));
}

std::string WhyNotApplicable(const StrategyEntry& strategy, const std::string& key) {
  const auto found = std::ranges::find(strategy.rejected_keys, key, &RejectedKey::key);
  return found == strategy.rejected_keys.end() ? "" : fmt::format(" ({})", found->reason);
}

/// "4 MiB, bucket-mb"; "192 KiB, which suits schedule 'priority' between these hosts".
std::string BucketText(const RunSpec& spec, std::int64_t bucket_bytes) {
  if (bucket_bytes == spec.bucket_bytes) {
    return fmt::format("{:g} MiB, bucket-mb", static_cast<double>(bucket_bytes) / (1 << 20));
  }
  return fmt::format("{:.4g} KiB, which suits schedule 'priority' between these hosts",
                     static_cast<double>(bucket_bytes) / 1024);
}

// A message holds a part of a bucket. With `bucket-mb` 0 the tensors of the model are the buckets.
void CheckMessageSizes(const RunSpec& spec, const StrategyEntry& strategy) {
  if (spec.bucket_bytes == 0) return;
  const auto bucket_bytes = static_cast<std::int64_t>(BucketSizesOf(spec).target_bytes);
  for (const OptionDeclaration& option : strategy.options) {
    if (option.role != OptionRole::kMessageSize) continue;
    const auto kib = std::get<std::int64_t>(spec.options.ValueOf(option));
    if (kib * 1024 <= bucket_bytes) continue;
    throw SpecKeyError(
        option.name,
        fmt::format("{} KiB are more than a bucket has ({})", kib, BucketText(spec, bucket_bytes)),
        {"bucket_bytes", "schedule"});
  }
}

std::optional<OptionRefusal> RefusalOf(const RunSpec& spec, const StrategyEntry& strategy) {
  if (strategy.check == nullptr) return std::nullopt;
  return strategy.check(spec.options, spec.workers, spec.servers);
}

SpecKeyError ErrorOf(const OptionRefusal& refusal) {
  return {refusal.key, refusal.reason, {"workers", "servers", "strategy"}};
}

}  // namespace

void CheckOptions(const RunSpec& spec, const StrategyEntry& strategy) {
  const RunSpec defaults(spec.catalog());
  for (const SpecKey& key : spec.catalog().keys()) {
    if (!key.option || strategy.Declares(key.name)) continue;
    if (key.get(spec) == key.get(defaults)) continue;
    throw SpecKeyError(
        key.name, fmt::format("strategy '{}' does not read it{}; {}", spec.strategy,
                              WhyNotApplicable(strategy, key.name), StrategiesThatTake(key, spec)));
  }
  if (const auto refusal = CheckRanges(strategy, spec.options)) {
    throw SpecKeyError(refusal->key, refusal->reason);
  }
  CheckMessageSizes(spec, strategy);
  const auto refusal = RefusalOf(spec, strategy);
  if (refusal && !refusal->missing_backend) throw ErrorOf(*refusal);
}

void RequireOptions(const RunSpec& spec, const StrategyEntry& strategy) {
  const auto refusal = RefusalOf(spec, strategy);
  if (refusal && refusal->missing_backend) {
    throw MissingKeyError(refusal->key, ErrorOf(*refusal).what());
  }
}

}  // namespace ringside
