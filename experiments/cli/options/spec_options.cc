#include "ringside/experiments/cli/options/spec_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/yaml_positions.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

using Kind = EffectiveSpec::Source::Kind;

std::string VariableOf(std::string_view key) {
  std::string name = "RINGSIDE_";
  for (const char c : key) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

bool IsUnsetBatch(const SpecKey& key, const RunSpec& spec) {
  return (key.name == "global-batch" && spec.global_batch == 0) ||
         (key.name == "batch-per-worker" && spec.batch_per_worker == 0);
}

// The default value, written like a flag's value; empty if help shows none.
std::string DefaultText(const SpecKey& key, const RunSpec& spec) {
  if (IsUnsetBatch(key, spec)) return "";
  const nlohmann::json value = key.get(spec);
  if (key.unit > 0) return fmt::format("{:g}", value.get<double>() / key.unit);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return key.placeholder.empty() ? "" : value.get<bool>() ? "on" : "off";
  if (value.is_array()) return fmt::format("{}", fmt::join(value.get<std::vector<int>>(), ","));
  return value.dump();
}

// One layer of values: all values from flags, or from the environment, or from the file.
class Layer {
 public:
  explicit Layer(EffectiveSpec& effective) : effective_(effective) {}

  void Set(const SpecKey& key, std::string_view text, Kind kind, const std::string& place) {
    try {
      RunSpec scratch(effective_.spec.catalog());
      SetSpecKey(scratch, key.name, text);
      settings_.push_back({&key, key.get(scratch), {}});
    } catch (const SpecKeyError& error) {
      throw UsageError(place + ": " + error.reason());
    }
    effective_.sources[key.name] = {kind, place};
  }
  void Set(const Setting& setting, const std::string& place) {
    settings_.push_back(setting);
    effective_.sources[setting.key->name] = {Kind::kFile, place};
  }
  void Finish() { Apply(effective_.spec, settings_); }

 private:
  EffectiveSpec& effective_;
  std::vector<Setting> settings_;
};

void ReadFileLayer(EffectiveSpec& effective, const std::string& path, const SpecOptions& takes) {
  const YamlFile file = YamlFile::Load(path, effective.spec.catalog());
  Layer layer(effective);
  for (const Setting& setting : ReadSettings(file, file.root(), "the configuration")) {
    if (!takes.Takes(*setting.key) && setting.key->shown) {
      file.Fail(setting.position, fmt::format("{}: this verb sets it itself", setting.key->name));
    }
    layer.Set(setting, fmt::format("{}: {}", file.Where(setting.position), setting.key->name));
  }
  layer.Finish();
}

[[noreturn]] void RefuseFrom(const EffectiveSpec::Source& source, const std::string& reason) {
  const std::string message = source.place + ": " + reason;
  if (source.kind == Kind::kFile) throw ConfigError(message);
  throw UsageError(message);
}

// A spec does not tell a given model from the default.
void RefuseModelBesideProgram(const EffectiveSpec& effective) {
  if (effective.spec.program.empty() || effective.spec.model == kProgramModel) return;
  const auto model = effective.sources.find("model");
  if (model == effective.sources.end()) return;
  RefuseFrom(model->second, "the program is the model; omit model");
}

// Throws for a key that was not set. If a file set another key of the conflict, names its line.
[[noreturn]] void RefuseDefault(const EffectiveSpec& effective, const SpecKeyError& error) {
  const auto is_set = [&](const std::string& key) { return effective.sources.contains(key); };
  const auto other = std::ranges::find_if(error.keys(), is_set);
  if (other != error.keys().end()) {
    const EffectiveSpec::Source& source = effective.sources.at(*other);
    if (source.kind == Kind::kFile) throw ConfigError(source.place + ": " + error.what());
  }
  throw UsageError(fmt::format("--{}: {}", error.key(), error.reason()));
}

}  // namespace

bool SpecOptions::Takes(const SpecKey& key) const {
  return key.shown && std::ranges::find(without, key.name) == without.end();
}

void AddSpecOptions(OptionSet& options, const SpecOptions& takes) {
  options.AddGroup("The run");
  for (const SpecKey& key : takes.defaults.catalog().keys()) {
    if (!takes.Takes(key)) continue;
    options.Add({key.name, key.placeholder, key.help, DefaultText(key, takes.defaults)});
  }
  options.AddGroup("Where values come from");
  options.Add({"config", "FILE",
               "YAML file of the keys above (global-batch: 64); flags and RINGSIDE_* variables "
               "(RINGSIDE_GLOBAL_BATCH) override it",
               ""});
  options.Add(
      {"print-config", "", "print the effective values with their sources, run nothing", ""});
}

EffectiveSpec ReadSpec(const ParsedOptions& parsed, const Environment& environment,
                       const SpecOptions& takes) {
  EffectiveSpec effective{takes.defaults, {}};
  effective.file = takes.file.empty() ? parsed.Get("config") : takes.file;
  const auto variable = environment.find("RINGSIDE_CONFIG");
  if (effective.file.empty() && variable != environment.end()) effective.file = variable->second;
  if (!effective.file.empty()) ReadFileLayer(effective, effective.file, takes);

  Layer from_environment(effective);
  for (const SpecKey& key : effective.spec.catalog().keys()) {
    const std::string name = VariableOf(key.name);
    const auto found = environment.find(name);
    if (!takes.Takes(key) || found == environment.end()) continue;
    from_environment.Set(key, found->second, Kind::kEnvironment, name);
  }
  from_environment.Finish();

  Layer from_flags(effective);
  for (const SpecKey& key : effective.spec.catalog().keys()) {
    if (!takes.Takes(key) || !parsed.Has(key.name)) continue;
    from_flags.Set(key, parsed.Get(key.name), Kind::kFlag, "--" + key.name);
  }
  if (!parsed.rest().empty()) {
    if (parsed.Has("program")) {
      throw UsageError("--program: the words after -- are the program; give it once");
    }
    from_flags.Set(*effective.spec.catalog().FindKey("program"), JoinWords(parsed.rest()),
                   Kind::kFlag, "--");
  }
  from_flags.Finish();
  RefuseModelBesideProgram(effective);
  return effective;
}

RunSpec ResolveEffective(const EffectiveSpec& effective,
                         const std::function<RunSpec(RunSpec)>& resolve) {
  try {
    return resolve(effective.spec);
  } catch (const SpecKeyError& error) {
    const auto source = effective.sources.find(error.key());
    if (source == effective.sources.end()) RefuseDefault(effective, error);
    RefuseFrom(source->second, error.reason());
  }
}

std::string PrintConfig(const EffectiveSpec& effective, const RunSpec& resolved) {
  std::string out;
  for (const SpecKey& key : resolved.catalog().keys()) {
    const nlohmann::json value = key.get(resolved);
    if (key.takes_words && value.empty()) continue;  // No words can be given in a file.
    const auto source = effective.sources.find(key.name);
    const std::string place = source == effective.sources.end() ? "default" : source->second.place;
    // JSON is YAML. The value is in base units, so the line uses the key's JSON name.
    out += fmt::format("{:<40} # {}\n", fmt::format("{}: {}", key.json_name, value.dump()), place);
  }
  return out;
}

}  // namespace ringside
