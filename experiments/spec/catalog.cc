#include "ringside/experiments/spec/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ringside/common/codec/codec_table.h"
#include "ringside/common/core/errors.h"
#include "ringside/common/strategy/none_strategy.h"
#include "ringside/models/tables/dataset_table.h"
#include "ringside/models/tables/model_table.h"
#include "ringside/paramserver/server/consistency_table.h"
#include "ringside/paramserver/strategies/ps_strategies.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/strategies/all_reduce_entry.h"
#include "ringside/ring/strategies/ring_strategies.h"

namespace ringside {
namespace {

// The options of strategies follow this key.
constexpr std::string_view kLastSharedOption = kErrorFeedbackOption.name;

template <typename Entry>
const Entry* Find(const std::vector<Entry>& entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? nullptr : &*found;
}

template <typename Entry>
void RefuseRepeatedNames(const std::vector<Entry>& entries, const char* what) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->name.empty()) throw ConfigError(fmt::format("a {} has no name", what));
    const auto other = std::find_if(
        entries.begin(), entry, [&](const Entry& before) { return before.name == entry->name; });
    if (other == entry) continue;
    throw ConfigError(
        fmt::format("two entries of kind '{}' are called '{}': \"{}\" and \"{}\"; rename one", what,
                    entry->name, other->summary, entry->summary));
  }
}

void Validate(const StrategyEntry& entry) {
  if (entry.make == nullptr) {
    throw ConfigError(fmt::format("strategy '{}' has no factory (make)", entry.name));
  }
  if (entry.traits.has_servers() != (entry.make_server != nullptr)) {
    throw ConfigError(fmt::format(
        "strategy '{}': traits.servers and make_server disagree on whether it has servers",
        entry.name));
  }
}

/// Whether the option is among the keys of every run.
bool IsShared(const OptionDeclaration& option) {
  return option == OptionDeclaration(kScheduleOption) ||
         option == OptionDeclaration(kCodecOption) ||
         option == OptionDeclaration(kErrorFeedbackOption);
}

}  // namespace

Catalog::Catalog(const Extensions& extensions) : has_extensions_(!extensions.empty()) {
  AddStrategies(extensions);
  AddCodecs(extensions);
  AddModels(extensions);
  const auto table = DatasetTable();
  datasets_.assign(table.begin(), table.end());
  std::ranges::copy(extensions.datasets, std::back_inserter(datasets_));
  RefuseRepeatedNames(datasets_, "dataset");
  AddOptions();
}

void Catalog::AddCodecs(const Extensions& extensions) {
  const auto table = BuiltinCodecs();
  codecs_.assign(table.begin(), table.end());
  for (const CodecEntry* codec : extensions.codecs) {
    const auto same = [&](const CodecEntry* other) { return other->name == codec->name; };
    const auto other = std::ranges::find_if(codecs_, same);
    if (other != codecs_.end()) {
      throw ConfigError(
          fmt::format("two entries of kind 'codec' are called '{}': \"{}\" and \"{}\"; rename one",
                      codec->name, (*other)->summary, codec->summary));
    }
    codecs_.push_back(codec);
  }
}

void Catalog::AddStrategies(const Extensions& extensions) {
  collectives_ = CollectiveTable();
  std::ranges::copy(extensions.collectives, std::back_inserter(collectives_));
  RefuseRepeatedNames(collectives_, "collective");
  const TransportTable transports(extensions.transports);
  consistencies_ = ConsistencyTable();
  std::ranges::copy(extensions.consistencies, std::back_inserter(consistencies_));

  strategies_.push_back(kNoneEntry);
  std::ranges::move(RingStrategies(), std::back_inserter(strategies_));
  std::ranges::move(ServerStrategies(transports), std::back_inserter(strategies_));
  built_in_strategies_ = strategies_.size();
  std::ranges::copy(extensions.strategies, std::back_inserter(strategies_));
  for (const CollectiveEntry& entry : extensions.collectives) {
    strategies_.push_back(AllReduceEntry(entry));
  }
  for (const ConsistencyEntry& entry : extensions.consistencies) {
    strategies_.push_back(ServerStrategyEntry(entry, transports));
  }
  RefuseRepeatedNames(strategies_, "strategy");
  for (const StrategyEntry& entry : strategies_) Validate(entry);
}

void Catalog::AddModels(const Extensions& extensions) {
  const auto table = ModelTable();
  models_.assign(table.begin(), table.end());
  for (const ModelEntry& entry : extensions.models) {
    const auto same = std::ranges::find(models_, entry.name, &ModelEntry::name);
    if (same != models_.end() && same->make == nullptr && entry.make != nullptr) {
      *same = entry;
    } else {
      models_.push_back(entry);
    }
  }
  RefuseRepeatedNames(models_, "model");
}

void Catalog::AddOptions() {
  keys_ = RunKeys();
  for (const StrategyEntry& strategy : strategies_) {
    for (const OptionDeclaration& option : strategy.options) AddOption(strategy, option);
  }
  std::vector<SpecKey> keys;
  for (const Declared& declared : options_) {
    if (IsShared(declared.option)) continue;
    keys.push_back(OptionKey(declared.option));
    // A run that uses none of the added options then has the same id as without them.
    const auto built_in = std::span(strategies_).first(built_in_strategies_);
    keys.back().written_only_if_set = std::ranges::none_of(
        built_in, [&](const auto& entry) { return entry.Declares(declared.option.name); });
  }
  std::ranges::find(keys_, kCodecOption.name, &SpecKey::name)->help += ": " + CodecForms(codecs_);
  const auto shared = std::ranges::find(keys_, kLastSharedOption, &SpecKey::name);
  keys_.insert(shared + 1, std::make_move_iterator(keys.begin()),
               std::make_move_iterator(keys.end()));
}

void Catalog::AddOption(const StrategyEntry& strategy, const OptionDeclaration& option) {
  const auto same = std::ranges::find_if(options_, [&](const Declared& declared) {
    return IsSameKey(declared.option.name, option.name);
  });
  if (same != options_.end()) {
    if (same->option == option) return;
    throw ConfigError(fmt::format(
        "strategies '{}' and '{}' declare the option '{}' differently; rename one of the two",
        same->strategy, strategy.name, option.name));
  }
  const SpecKey* key = IsShared(option) ? nullptr : FindKey(option.name);
  if (key != nullptr) {
    throw ConfigError(fmt::format(
        "strategy '{}' declares the option '{}', but every run has a key '{}'; rename the option",
        strategy.name, option.name, key->name));
  }
  option.Check(option.default_value);
  options_.push_back({option, strategy.name});
}

const StrategyEntry* Catalog::FindStrategy(std::string_view name) const {
  return Find(strategies_, name);
}

const CollectiveEntry* Catalog::FindCollective(std::string_view name) const {
  return Find(collectives_, name);
}

const ModelEntry* Catalog::FindModel(std::string_view name) const { return Find(models_, name); }

const DatasetEntry* Catalog::FindDataset(std::string_view name) const {
  return Find(datasets_, name);
}

const SpecKey* Catalog::FindKey(std::string_view name) const {
  const auto found = std::ranges::find_if(keys_, [&](const SpecKey& key) {
    return IsSameKey(key.name, name) || IsSameKey(key.json_name, name);
  });
  return found == keys_.end() ? nullptr : &*found;
}

std::vector<std::string_view> Catalog::KeyNames() const {
  std::vector<std::string_view> names;
  for (const SpecKey& key : keys_) names.emplace_back(key.name);
  return names;
}

}  // namespace ringside
