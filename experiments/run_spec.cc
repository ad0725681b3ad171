#include "experiments/run_spec.h"

#include <nlohmann/json.hpp>
#include <span>

#include "experiments/did_you_mean.h"
#include "experiments/sha256.h"
#include "experiments/spec_keys.h"

namespace ringside {

std::int64_t RunSpec::ResolvedGlobalBatch() const {
  return global_batch > 0 ? global_batch : batch_per_worker * workers;
}

void to_json(nlohmann::json& json, const RunSpec& spec) {
  json = nlohmann::json::object();
  for (const SpecKey& key : SpecKeys()) json[std::string(key.json_name)] = key.get(spec);
}

void from_json(const nlohmann::json& json, RunSpec& spec) {
  if (!json.is_object()) throw ConfigError("a run spec must be an object of keys and values");
  for (const auto& [name, value] : json.items()) {
    const SpecKey* key = FindSpecKey(name);
    if (key == nullptr) {
      throw SpecKeyError(name, "no such key" + DidYouMean(name, SpecKeyNames()));
    }
    SetSpecKey(spec, *key, value);
  }
}

std::string RunId(const RunSpec& spec) {
  // nlohmann orders the keys of an object, so equal specs give equal text.
  const std::string text = nlohmann::json(spec).dump();
  return Sha256Hex(std::as_bytes(std::span(text))).substr(0, 16);
}

}  // namespace ringside
