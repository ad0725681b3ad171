#include "experiments/option_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/errors.h"
#include "experiments/spec_keys.h"
#include "experiments/strategy_table.h"

namespace ringside {
namespace {

// Keys of `StrategyOptions`: each is read by some strategies.
std::set<std::string_view> OptionKeys() {
  std::set<std::string_view> keys;
  for (const StrategyEntry* entry : StrategyTable()) {
    keys.insert(entry->keys.begin(), entry->keys.end());
  }
  return keys;
}

// Whether a strategy would run with the spec's value of this key alone.
bool Takes(const StrategyEntry& strategy, const SpecKey& key, const RunSpec& spec) {
  if (std::ranges::find(strategy.keys, key.name) == strategy.keys.end()) return false;
  if (strategy.check == nullptr) return true;
  RunSpec alone;
  SetSpecKey(alone, key, key.get(spec));
  const auto refusal = strategy.check(alone.options, spec.workers, spec.servers);
  return !refusal || refusal->missing_backend;
}

std::string StrategiesThatTake(const SpecKey& key, const RunSpec& spec) {
  std::vector<std::string_view> names;
  for (const StrategyEntry* entry : StrategyTable()) {
    if (Takes(*entry, key, spec)) names.push_back(entry->name);
  }
  if (names.empty()) return "no strategy takes this value";
  return fmt::format("{} can", fmt::join(names, ", "));
}

std::string WhySenseless(const StrategyEntry& strategy, std::string_view key) {
  const auto found = std::ranges::find(strategy.senseless_keys, key, &KeyReason::key);
  return found == strategy.senseless_keys.end() ? "" : fmt::format(" ({})", found->reason);
}

}  // namespace

void CheckOptions(const RunSpec& spec, const StrategyEntry& strategy) {
  const RunSpec defaults;
  for (const std::string_view name : OptionKeys()) {
    if (std::ranges::find(strategy.keys, name) != strategy.keys.end()) continue;
    const SpecKey& key = *FindSpecKey(name);
    if (key.get(spec) == key.get(defaults)) continue;
    throw SpecKeyError(std::string(name),
                       fmt::format("strategy '{}' does not read it{}; {}", spec.strategy,
                                   WhySenseless(strategy, name), StrategiesThatTake(key, spec)));
  }
  if (strategy.check == nullptr) return;
  if (const auto refusal = strategy.check(spec.options, spec.workers, spec.servers)) {
    const SpecKeyError error(refusal->key, refusal->reason, {"workers", "servers", "strategy"});
    if (refusal->missing_backend) throw MissingKeyError(refusal->key, error.what());
    throw error;
  }
}

}  // namespace ringside
