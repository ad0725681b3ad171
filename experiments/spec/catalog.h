#ifndef RINGSIDE_EXPERIMENTS_SPEC_CATALOG_H_
#define RINGSIDE_EXPERIMENTS_SPEC_CATALOG_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/codec/codec_entry.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/experiments/spec/extensions.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/models/core/dataset_entry.h"
#include "ringside/models/core/model_entry.h"
#include "ringside/paramserver/server/consistency_entry.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// Everything that a program can run: the built-in entries, then those of its extensions, and the
/// keys of a run spec that follow from them. `Main` makes one and passes it down. It must outlive
/// everything that holds a reference to it, also every `RunSpec` made with it. It never changes;
/// any number of threads may read it.
class Catalog {
 public:
  /// Throws `ConfigError` that names kind and entry, and the option if it is about one: when an
  /// entry lacks its name or a function that every run calls, two entries of one kind have the same
  /// name, two strategies declare an option differently, an option has the name of a key of every
  /// run, or the default of an option is out of its own range. An extension may have the name of a
  /// built-in model only where this program lacks that model's factory; the extension then replaces
  /// the model.
  explicit Catalog(const Extensions& extensions = {});

  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  /// The entries in the order of help and reports. `Find...` returns null for an unknown name. The
  /// name of a model or dataset that takes a file is followed by a path.
  std::span<const StrategyEntry> strategies() const { return strategies_; }
  const StrategyEntry* FindStrategy(std::string_view name) const;
  std::span<const CollectiveEntry> collectives() const { return collectives_; }
  const CollectiveEntry* FindCollective(std::string_view name) const;
  std::span<const ConsistencyEntry> consistencies() const { return consistencies_; }
  std::span<const CodecEntry* const> codecs() const { return codecs_; }
  std::span<const ModelEntry> models() const { return models_; }
  const ModelEntry* FindModel(std::string_view name) const;
  std::span<const DatasetEntry> datasets() const { return datasets_; }
  const DatasetEntry* FindDataset(std::string_view name) const;

  /// The keys of a run spec: those of every run and the options of all strategies, in the order in
  /// which help lists them.
  std::span<const SpecKey> keys() const { return keys_; }
  /// The key with that name or JSON name, `_` read as `-`; null when there is none.
  const SpecKey* FindKey(std::string_view name) const;
  /// The names of all keys, for "did you mean".
  std::vector<std::string_view> KeyNames() const;

  /// Whether the program has entries of its own.
  bool has_extensions() const { return has_extensions_; }

 private:
  void AddStrategies(const Extensions& extensions);
  void AddCodecs(const Extensions& extensions);
  void AddModels(const Extensions& extensions);
  void AddOptions();
  void AddOption(const StrategyEntry& strategy, const OptionDeclaration& option);

  struct Declared {
    OptionDeclaration option;
    std::string strategy;  // the first that declared it
  };

  std::vector<StrategyEntry> strategies_;
  std::size_t built_in_strategies_ = 0;
  std::vector<CollectiveEntry> collectives_;
  std::vector<ConsistencyEntry> consistencies_;
  std::vector<const CodecEntry*> codecs_;
  std::vector<ModelEntry> models_;
  std::vector<DatasetEntry> datasets_;
  std::vector<Declared> options_;
  std::vector<SpecKey> keys_;
  bool has_extensions_;
};

/// The path after the name of a model or dataset that takes a file: "net.pt" of "script:net.pt" and
/// the entry's name "script:".
std::string FileOf(const std::string& name, const std::string& entry_name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_CATALOG_H_
