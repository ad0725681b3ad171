#include "ringside/experiments/spec/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec_table.h"
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

/// As `Find`, for names of entries that may be followed by a path.
template <typename Entry, typename TakesFile>
const Entry* FindWithFile(const std::vector<Entry>& entries, std::string_view name,
                          const TakesFile& takes_file) {
  const auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
    if (!takes_file(entry)) return entry.name == name;
    return name.size() > entry.name.size() && name.starts_with(entry.name);
  });
  return found == entries.end() ? nullptr : &*found;
}

[[noreturn]] void RefuseRepeatedName(std::string_view what, std::string_view name,
                                     std::string_view first, std::string_view second) {
  throw ConfigError(
      fmt::format("two entries of kind '{}' are called '{}': \"{}\" and \"{}\"; rename one", what,
                  name, first, second));
}

template <typename Entry>
void RefuseRepeatedNames(const std::vector<Entry>& entries, std::string_view what) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    const auto other = std::find_if(
        entries.begin(), entry, [&](const Entry& before) { return before.name == entry->name; });
    if (other == entry) continue;
    RefuseRepeatedName(what, entry->name, other->summary, entry->summary);
  }
}

void RequireName(std::string_view name, std::string_view what, std::string_view summary) {
  if (!name.empty()) return;
  throw ConfigError(fmt::format("a {} has no name (its summary: \"{}\")", what, summary));
}

/// `member` is a function of the entry that every run calls.
template <typename Function>
void RequireFunction(const Function& function, std::string_view member, std::string_view what,
                     std::string_view name) {
  if (function != nullptr) return;
  throw ConfigError(fmt::format("{} '{}' has no function '{}'; set it", what, name, member));
}

void Validate(const CollectiveEntry& entry) {
  RequireName(entry.name, "collective", entry.summary);
  RequireFunction(entry.make, "make", "collective", entry.name);
  RequireFunction(entry.bound, "bound", "collective", entry.name);
  RequireFunction(entry.why_not_encoded, "why_not_encoded", "collective", entry.name);
}

void Validate(const ConsistencyEntry& entry) {
  RequireName(entry.name, "consistency", entry.summary);
  RequireFunction(entry.make, "make", "consistency", entry.name);
}

void Validate(const DatasetEntry& entry) {
  RequireName(entry.name, "dataset", entry.summary);
  RequireFunction(entry.make, "make", "dataset", entry.name);
}

/// `make` is empty where the program does not load libtorch, and where it is no user's program.
void Validate(const ModelEntry& entry) {
  RequireName(entry.name, "model", entry.summary);
  const bool made_elsewhere = entry.traits.needs_libtorch || entry.traits.is_program;
  if (!made_elsewhere) RequireFunction(entry.make, "make", "model", entry.name);
  RequireFunction(entry.tensors, "tensors", "model", entry.name);
}

/// `codecs` are those before this one.
void Validate(const CodecEntry* codec, std::span<const CodecEntry* const> codecs) {
  if (codec == nullptr) {
    throw ConfigError("a codec of an extension is a null pointer; give the address of its entry");
  }
  RequireName(codec->name, "codec", codec->summary);
  RequireFunction(codec->make, "make", "codec", codec->name);
  if (codec->scheme == AggregationScheme::kPlain || codec->scheme == AggregationScheme::kFactors) {
    throw ConfigError(
        fmt::format("codec '{}' has a scheme that only a built-in codec may have; "
                    "take kReencodedPerHop or kGathered",
                    codec->name));
  }
  const auto other = std::ranges::find(codecs, codec->name, &CodecEntry::name);
  if (other != codecs.end()) {
    RefuseRepeatedName("codec", codec->name, (*other)->summary, codec->summary);
  }
}

void Validate(const StrategyEntry& entry) {
  RequireName(entry.name, "strategy", entry.summary);
  RequireFunction(entry.make, "make", "strategy", entry.name);
  RequireFunction(entry.bound, "bound", "strategy", entry.name);
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
  for (const DatasetEntry& entry : datasets_) Validate(entry);
  RefuseRepeatedNames(datasets_, "dataset");
  AddOptions();
}

void Catalog::AddCodecs(const Extensions& extensions) {
  const auto table = BuiltinCodecs();
  codecs_.assign(table.begin(), table.end());
  for (const CodecEntry* codec : extensions.codecs) {
    Validate(codec, codecs_);
    codecs_.push_back(codec);
  }
}

void Catalog::AddStrategies(const Extensions& extensions) {
  collectives_ = CollectiveTable();
  std::ranges::copy(extensions.collectives, std::back_inserter(collectives_));
  for (const CollectiveEntry& entry : collectives_) Validate(entry);
  RefuseRepeatedNames(collectives_, "collective");
  const TransportTable transports(extensions.transports);
  consistencies_ = ConsistencyTable();
  std::ranges::copy(extensions.consistencies, std::back_inserter(consistencies_));
  for (const ConsistencyEntry& entry : consistencies_) Validate(entry);

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
  for (const StrategyEntry& entry : strategies_) Validate(entry);
  RefuseRepeatedNames(strategies_, "strategy");
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
  for (const ModelEntry& entry : models_) Validate(entry);
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
    const bool of_built_in = std::ranges::any_of(
        built_in, [&](const auto& entry) { return entry.Declares(declared.option.name); });
    keys.back().written_only_if_set = declared.option.written_only_if_set || !of_built_in;
  }
  std::ranges::find(keys_, kCodecOption.name, &SpecKey::name)->help += ": " + CodecForms(codecs_);
  const auto shared = std::ranges::find(keys_, kLastSharedOption, &SpecKey::name);
  keys_.insert(shared + 1, std::make_move_iterator(keys.begin()),
               std::make_move_iterator(keys.end()));
}

void Catalog::AddOption(const StrategyEntry& strategy, const OptionDeclaration& option) {
  if (option.name.empty()) {
    throw ConfigError(
        fmt::format("strategy '{}' declares an option that has no name (its help: "
                    "\"{}\")",
                    strategy.name, option.help));
  }
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
  try {
    option.Check(option.default_value);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("strategy '{}', the default of its option '{}': {}",
                                  strategy.name, option.name, error.what()));
  }
  options_.push_back({option, strategy.name});
}

const StrategyEntry* Catalog::FindStrategy(std::string_view name) const {
  return Find(strategies_, name);
}

const CollectiveEntry* Catalog::FindCollective(std::string_view name) const {
  return Find(collectives_, name);
}

const ModelEntry* Catalog::FindModel(std::string_view name) const {
  return FindWithFile(models_, name,
                      [](const ModelEntry& entry) { return entry.traits.takes_file; });
}

const DatasetEntry* Catalog::FindDataset(std::string_view name) const {
  return FindWithFile(datasets_, name, [](const DatasetEntry& entry) { return entry.takes_file; });
}

std::string FileOf(const std::string& name, const std::string& entry_name) {
  return name.substr(std::min(name.size(), entry_name.size()));
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
