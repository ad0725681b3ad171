#ifndef RINGSIDE_EXPERIMENTS_SPEC_KEYS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_KEYS_H_

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "experiments/run_spec.h"

namespace ringside {

/// One key of a `RunSpec`, under the same name everywhere: as a flag (`--global-batch 64`), in the
/// environment (`RINGSIDE_GLOBAL_BATCH`), in a spec file (`global-batch: 64`) and, under
/// `json_name` and in base units, in a bundle's spec.json.
struct SpecKey {
  std::string_view name;
  std::string_view json_name;
  std::string_view placeholder;  ///< "N", "MIB"; empty for a switch.
  std::string_view help;
  bool shown = true;  ///< False: not a flag (the matrix sets it).
  /// Text in, typed value in base units out. Throws `ConfigError`.
  nlohmann::json (*parse)(std::string_view text);
  nlohmann::json (*get)(const RunSpec& spec);
  /// Throws `nlohmann::json::exception` or `ConfigError` on a value of the wrong type.
  void (*set)(RunSpec& spec, const nlohmann::json& value);
  /// A spec file may write it as a map: {a: 1, b: [x, y]} is the text "a=1,b=x:y" (`ParsePairs`).
  bool takes_map = false;
};

/// All keys, in the order in which help lists them.
std::span<const SpecKey> SpecKeys();
/// By either name, with `_` as good as `-`; null when there is none.
const SpecKey* FindSpecKey(std::string_view name);
/// The names, for "did you mean".
std::span<const std::string_view> SpecKeyNames();

/// Sets a key from text, which is in base units when `name` is the key's JSON name. Throws
/// `SpecKeyError` on an unknown key or a bad value.
void SetSpecKey(RunSpec& spec, std::string_view name, std::string_view text);
/// Sets a key from a typed value in base units. Throws `SpecKeyError`.
void SetSpecKey(RunSpec& spec, const SpecKey& key, const nlohmann::json& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_KEYS_H_
