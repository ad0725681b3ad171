#ifndef RINGSIDE_EXPERIMENTS_SPEC_SPEC_KEYS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_SPEC_KEYS_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/strategy/option.h"

namespace ringside {

struct RunSpec;

/// One key of a `RunSpec`. It has the same name everywhere: as a flag (`--global-batch 64`), in the
/// environment (`RINGSIDE_GLOBAL_BATCH`), in a spec file (`global-batch: 64`) and, under
/// `json_name` and in base units, in a bundle's spec.json.
struct SpecKey {
  std::string name;
  std::string json_name;
  std::string placeholder;  ///< "N", "MIB"; empty for a switch that needs no value.
  std::string help;
  /// Converts text to a typed value in base units. Throws `ConfigError`.
  std::function<nlohmann::json(std::string_view text)> parse;
  std::function<nlohmann::json(const RunSpec& spec)> get;
  /// Throws `nlohmann::json::exception` or `ConfigError` on a value of the wrong type.
  std::function<void(RunSpec& spec, const nlohmann::json& value)> set;
  bool shown = true;  ///< False: there is no such flag (the matrix sets the key).
  /// A spec file may use a map: {a: 1, b: [x, y]} means the text "a=1,b=x:y" (`ParsePairs`).
  bool takes_map = false;
  /// `parse` for text given under `json_name`; empty: `parse` itself.
  std::function<nlohmann::json(std::string_view text)> parse_base_units = {};
  /// The unit of `name` in base units; 0: no unit, the value is shown unchanged.
  double unit = 0;
  /// The role of an option of strategies. Absent: a key of every run.
  std::optional<OptionRole> option = {};
  /// spec.json omits the key when it has its default value.
  bool written_only_if_set = false;
  /// The value is a list of words: in a spec file a list, or a line as in a shell.
  bool takes_words = false;
};

/// Whether two names are the same key; `_` and `-` are equal.
bool IsSameKey(std::string_view a, std::string_view b);

/// The keys of every run, with the options that all strategy families share.
std::vector<SpecKey> RunKeys();
/// The key of an option that a strategy declares.
SpecKey OptionKey(const OptionDeclaration& option);

/// Sets a key of the spec's catalog from text. The text is in base units when `name` is the key's
/// JSON name. Throws `SpecKeyError` on an unknown key or a bad value.
void SetSpecKey(RunSpec& spec, std::string_view name, std::string_view text);
/// Sets a key from a typed value in base units. Throws `SpecKeyError`.
void SetSpecKey(RunSpec& spec, const SpecKey& key, const nlohmann::json& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_SPEC_KEYS_H_
