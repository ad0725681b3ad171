#include "ringside/experiments/spec/run_spec.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/system/files/sha256.h"
#include "ringside/experiments/text/did_you_mean.h"

namespace ringside {

const Catalog& RunSpec::catalog() const {
  if (catalog_ == nullptr) throw InternalError("a run spec of no catalog has no keys");
  return *catalog_;
}

std::int64_t RunSpec::ResolvedGlobalBatch() const {
  if (global_batch > 0) return global_batch;
  if (batch_per_worker <= 0 || workers <= 0) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return batch_per_worker > kMost / workers ? kMost : batch_per_worker * workers;
}

bool StepsTogether(const RunSpec& spec) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr) return false;
  const Agreement agreement = entry->traits.agreement;
  return agreement == Agreement::kSynchronous || agreement == Agreement::kPeriodic;
}

void to_json(nlohmann::json& json, const RunSpec& spec) {
  // Assigned at the end: what a constructor of nlohmann::json holds leaks when this throws.
  auto object = nlohmann::json::object();
  const RunSpec defaults(spec.catalog());
  for (const SpecKey& key : spec.catalog().keys()) {
    nlohmann::json value = key.get(spec);
    if (key.written_only_if_set && value == key.get(defaults)) continue;
    object[key.json_name] = std::move(value);
  }
  json = std::move(object);
}

void from_json(const nlohmann::json& json, RunSpec& spec) {
  if (!json.is_object()) throw ConfigError("a run spec must be an object of keys and values");
  for (const auto& [name, value] : json.items()) {
    const SpecKey* key = spec.catalog().FindKey(name);
    if (key == nullptr) {
      throw SpecKeyError(name, "no such key" + DidYouMean(name, spec.catalog().KeyNames()));
    }
    SetSpecKey(spec, *key, value);
  }
}

RunSpec ReadRunSpec(const nlohmann::json& json, const Catalog& catalog) {
  RunSpec spec(catalog);
  from_json(json, spec);
  return spec;
}

std::string RunId(const RunSpec& spec) {
  // nlohmann sorts the keys of an object, so equal specs give equal text.
  const std::string text = nlohmann::json(spec).dump();
  return Sha256Hex(std::as_bytes(std::span(text))).substr(0, 16);
}

}  // namespace ringside
