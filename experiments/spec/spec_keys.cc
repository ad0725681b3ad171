#include "ringside/experiments/spec/spec_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/timeline_steps.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/json_integer.h"
#include "ringside/experiments/text/units.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

using nlohmann::json;

json Text(std::string_view text) { return std::string(text); }
json Integer(std::string_view text) { return ParseInteger(text); }
// A given batch size must not be 0: in a spec, 0 means that this kind of batch was not given.
json BatchSize(std::string_view text) {
  const std::int64_t samples = ParseInteger(text);
  if (samples == 0) throw ConfigError("a batch of 0 samples is not possible; give at least 1");
  return samples;
}
json Real(std::string_view text) { return ParseReal(text); }
json Switch(std::string_view text) { return ParseSwitch(text); }
json IntegerList(std::string_view text) { return ParseIntegerList(text); }
// A given command must not be empty: in a spec, an empty one means that the model is no program.
json Command(std::string_view text) {
  std::vector<std::string> words = SplitWords(text);
  if (words.empty()) throw ConfigError("it names no program");
  return words;
}
json Bytes(std::string_view text) { return ParseBytes(text); }
json Mebibytes(std::string_view text) { return ParseBytes(text, 1 << 20); }
json Rate(std::string_view text) { return ParseBitsPerSecond(text); }
json Seconds(std::string_view text) { return ParseSeconds(text); }
json Milliseconds(std::string_view text) {
  // A plain number is in the unit of the key's name; "80ms" or "0.1s" has its own unit.
  const bool plain = text.find_first_not_of("0123456789.+-eE") == std::string_view::npos;
  return plain ? ParseReal(text) : ParseSeconds(text) * 1e3;
}

/// Whether a text can be written to spec.json: JSON is always UTF-8.
bool IsUtf8(const json& text) {
  try {
    static_cast<void>(text.dump());
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

// Rejects wrong types: nlohmann converts between numbers and booleans without an error.
template <typename T>
T Checked(const json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) throw ConfigError("true or false expected, not " + value.dump());
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer()) {
      throw ConfigError("a whole number expected, not " + value.dump());
    }
    if (!IntegerOf<T>(value)) throw ConfigError(value.dump() + " is out of range");
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) throw ConfigError("a number expected, not " + value.dump());
    if (!std::isfinite(value.get<double>())) throw ConfigError("the number is too large");
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) throw ConfigError("text expected, not " + value.dump());
    if (!IsUtf8(value)) throw ConfigError("the text is not UTF-8");
  } else {
    if (!value.is_array()) throw ConfigError("a list expected, not " + value.dump());
    T list;
    for (const json& element : value) {
      list.push_back(Checked<typename T::value_type>(element));
    }
    return list;
  }
  return value.get<T>();
}

// Accessors of a member of RunSpec, or of its optimizer.
template <auto member>
json Get(const RunSpec& spec) {
  return spec.*member;
}
template <auto member>
void Set(RunSpec& spec, const json& value) {
  spec.*member = Checked<std::remove_reference_t<decltype(spec.*member)>>(value);
}
template <auto member>
json GetOptimizer(const RunSpec& spec) {
  return spec.optimizer.*member;
}
template <auto member>
void SetOptimizer(RunSpec& spec, const json& value) {
  auto& target = spec.optimizer.*member;
  target = Checked<std::remove_reference_t<decltype(target)>>(value);
}

// `servers` is a number of dedicated servers, "workers" (as many as those), "colocated" (one in
// every worker) or "colocated:N".
constexpr std::string_view kColocated = "colocated";
constexpr std::string_view kAsWorkers = "workers";

json ParseServers(std::string_view text) {
  if (text.starts_with(kColocated) || text == kAsWorkers) return std::string(text);
  return ParseInteger(text);
}

json GetServers(const RunSpec& spec) {
  if (spec.servers_as_workers) return std::string(kAsWorkers);
  if (!spec.colocated) return spec.servers;
  if (spec.servers == 0) return std::string(kColocated);
  return fmt::format("{}:{}", kColocated, spec.servers);
}

void SetServers(RunSpec& spec, const json& value) {
  spec.servers_as_workers = value.is_string() && value.get<std::string>() == kAsWorkers;
  if (spec.servers_as_workers) {
    spec.servers = 0;
    spec.colocated = false;
    return;
  }
  if (!value.is_string()) {
    spec.servers = Checked<int>(value);
    spec.colocated = false;
    return;
  }
  const auto text = value.get<std::string>();
  const std::string expected =
      "a number, 'workers', 'colocated' or 'colocated:N' expected, not '" + text + "'";
  if (!text.starts_with(kColocated)) throw ConfigError(expected);
  std::string_view rest = std::string_view(text).substr(kColocated.size());
  spec.servers = 0;
  if (!rest.empty()) {
    if (rest.front() != ':') throw ConfigError(expected);
    spec.servers = Checked<int>(ParseInteger(rest.substr(1)));
    if (spec.servers < 1) throw ConfigError(expected);
  }
  spec.colocated = true;
}

/// A table of an enumeration's values by name. Errors call the enumeration `what`.
template <typename Value, std::size_t count>
struct Names {
  std::string_view what;
  std::array<std::pair<Value, std::string_view>, count> values;

  json NameOf(Value value) const {
    const auto* found =
        std::ranges::find(values, value, [](const auto& entry) { return entry.first; });
    return std::string(found->second);
  }

  Value ValueOf(const json& value) const {
    const auto name = Checked<std::string>(value);
    std::array<std::string_view, count> names;
    for (std::size_t i = 0; i < count; ++i) names[i] = values[i].second;
    const auto* found =
        std::ranges::find(values, name, [](const auto& entry) { return entry.second; });
    if (found != values.end()) return found->first;
    throw ConfigError(fmt::format("no {} is called '{}'{}; there are {}", what, name,
                                  DidYouMean(name, names), fmt::join(names, ", ")));
  }
};

using Optimizers = OptimizerOptions::Kind;
constexpr Names<Optimizers, 3> kOptimizers{
    "optimizer",
    {{{Optimizers::kSgd, "sgd"}, {Optimizers::kAdam, "adam"}, {Optimizers::kAdamW, "adamw"}}}};

json GetOptimizerKind(const RunSpec& spec) { return kOptimizers.NameOf(spec.optimizer.kind); }
void SetOptimizerKind(RunSpec& spec, const json& value) {
  spec.optimizer.kind = kOptimizers.ValueOf(value);
}

json GetProgram(const RunSpec& spec) { return spec.program; }
void SetProgram(RunSpec& spec, const json& value) {
  auto words = Checked<std::vector<std::string>>(value);
  for (const std::string& word : words) {
    if (!IsUtf8(word)) throw ConfigError("a word is not UTF-8");
    if (word.find('\0') != std::string::npos) throw ConfigError("a word holds a null character");
  }
  spec.program = std::move(words);
}

json GetNetwork(const RunSpec& spec) {
  return spec.network ? NetworkText(*spec.network) : std::string();
}
void SetNetwork(RunSpec& spec, const json& value) {
  const auto text = Checked<std::string>(value);
  spec.network = text.empty() ? std::nullopt : std::optional(ParseNetwork(text));
}

json GetDilation(const RunSpec& spec) { return DilationText(spec.dilation); }
void SetDilation(RunSpec& spec, const json& value) {
  spec.dilation = ParseDilation(value.is_number() ? value.dump() : Checked<std::string>(value));
}

json GetCodec(const RunSpec& spec) { return CodecText(spec.options.codec); }
void SetCodec(RunSpec& spec, const json& value) {
  ParseCodec(Checked<std::string>(value), spec.catalog().codecs(), spec.options.codec);
}
json GetStraggler(const RunSpec& spec) { return StragglerText(spec.straggler); }
void SetStraggler(RunSpec& spec, const json& value) {
  spec.straggler = ParseStraggler(Checked<std::string>(value));
}
json GetTimelineSteps(const RunSpec& spec) { return TimelineStepsText(spec.timeline_steps); }
void SetTimelineSteps(RunSpec& spec, const json& value) {
  spec.timeline_steps = ParseTimelineSteps(Checked<std::string>(value));
}

/// Returns `value` if it is one of these names, else throws. Errors call it `noun`.
std::string CheckedChoice(const json& value, const std::string& noun,
                          const std::vector<std::string_view>& choices) {
  auto name = Checked<std::string>(value);
  if (std::ranges::find(choices, name) != choices.end()) return name;
  throw ConfigError(fmt::format("no {} is called '{}'{}; there are {}", noun, name,
                                DidYouMean(name, choices), fmt::join(choices, ", ")));
}

template <typename Enum, std::size_t count>
Enum ChoiceOf(const ChoiceOption<Enum, count>& option, const json& value) {
  const std::vector<std::string_view> choices(option.choices.begin(), option.choices.end());
  const std::string name = CheckedChoice(value, std::string(option.noun), choices);
  return static_cast<Enum>(std::ranges::find(choices, name) - choices.begin());
}

json GetSchedule(const RunSpec& spec) { return kScheduleOption.NameOf(spec.options.order); }
void SetSchedule(RunSpec& spec, const json& value) {
  spec.options.order = ChoiceOf(kScheduleOption, value);
}
json GetErrorFeedback(const RunSpec& spec) {
  return kErrorFeedbackOption.NameOf(spec.options.codec.error_feedback);
}
void SetErrorFeedback(RunSpec& spec, const json& value) {
  spec.options.codec.error_feedback = ChoiceOf(kErrorFeedbackOption, value);
}

std::string JsonNameOf(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

json (*ParserOf(OptionType type))(std::string_view) {
  switch (type) {
    case OptionType::kSwitch:
      return Switch;
    case OptionType::kInteger:
      return Integer;
    case OptionType::kReal:
      return Real;
    case OptionType::kText:
    case OptionType::kChoice:
      break;
  }
  return Text;
}

OptionValue ValueFrom(const OptionDeclaration& option, const json& value) {
  switch (option.type) {
    case OptionType::kSwitch:
      return Checked<bool>(value);
    case OptionType::kInteger:
      return Checked<std::int64_t>(value);
    case OptionType::kReal:
      return Checked<double>(value);
    case OptionType::kChoice:
      return CheckedChoice(value, option.noun, {option.choices.begin(), option.choices.end()});
    case OptionType::kText:
      break;
  }
  return Checked<std::string>(value);
}

json JsonOf(const OptionValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

/// The key of a declared option. The caller sets its accessors.
SpecKey KeyOf(const OptionDeclaration& option) {
  SpecKey key;
  key.name = option.name;
  key.json_name = JsonNameOf(option.name);
  key.placeholder = option.placeholder;
  key.help = option.help;
  key.parse = ParserOf(option.type);
  key.option = option.role;
  return key;
}

SpecKey SharedKey(const OptionDeclaration& option, json (*get)(const RunSpec&),
                  void (*set)(RunSpec&, const json&)) {
  SpecKey key = KeyOf(option);
  key.get = get;
  key.set = set;
  return key;
}

}  // namespace

bool IsSameKey(std::string_view a, std::string_view b) {
  const auto fold = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, fold, fold);
}

SpecKey OptionKey(const OptionDeclaration& option) {
  SpecKey key = KeyOf(option);
  key.get = [option](const RunSpec& spec) { return JsonOf(spec.options.ValueOf(option)); };
  key.set = [option](RunSpec& spec, const json& value) {
    // A flag may still replace a number of a file: its range is checked when all are merged.
    OptionValue merged = ValueFrom(option, value);
    const bool number = option.type == OptionType::kInteger || option.type == OptionType::kReal;
    if (!number) option.Check(merged);
    spec.options.SetUnchecked(option, std::move(merged));
  };
  return key;
}

std::vector<SpecKey> RunKeys() {
  return {
      SpecKey{"strategy", "strategy", "NAME",
              "how gradients are synchronised (ringside list strategies)", Text,
              Get<&RunSpec::strategy>, Set<&RunSpec::strategy>},
      SpecKey{"workers", "workers", "N", "worker processes", Integer, Get<&RunSpec::workers>,
              Set<&RunSpec::workers>},
      SpecKey{"hosts", "hosts", "N",
              "divide the workers into blocks, on N emulated hosts; 0: the real hosts", Integer,
              Get<&RunSpec::hosts>, Set<&RunSpec::hosts>},
      SpecKey{"network", "network", "RATE|NAME=VALUE,...",
              "emulate a cluster: a host is a network namespace whose link has this rate (1Gbps; "
              "hosts=2,rate=1Gbps; rates=, racks=, uplink=, latency=, jitter=, loss=, servers=, "
              "congestion=)",
              Text, GetNetwork, SetNetwork, true, true},
      SpecKey{.name = "dilation",
              .json_name = "dilation",
              .placeholder = "FACTOR|auto",
              .help = "with network: slow the clock, the links and the emulated compute down by "
                      "this factor, so that a small machine can follow; auto: by hosts and rates",
              .parse = Text,
              .get = GetDilation,
              .set = SetDilation,
              .written_only_if_set = true},
      SpecKey{
          "servers", "servers", "N|workers|colocated[:N]",
          "dedicated parameter servers (workers: one per worker), or servers inside the workers "
          "(colocated); 0: one dedicated; mixed: those in addition to one in every worker",
          ParseServers, GetServers, SetServers},
      SharedKey(kScheduleOption, GetSchedule, SetSchedule),
      SharedKey(kCodecOption, GetCodec, SetCodec),
      SharedKey(kErrorFeedbackOption, GetErrorFeedback, SetErrorFeedback),
      SpecKey{"model", "model", "NAME", "what is trained (ringside list models)", Text,
              Get<&RunSpec::model>, Set<&RunSpec::model>},
      SpecKey{.name = "program",
              .json_name = "program",
              .placeholder = "COMMAND",
              .help = "a program of your own as the model: every worker runs this command, which "
                      "uses the Python package ringside; 'ringside train ... -- COMMAND' is the "
                      "same",
              .parse = Command,
              .get = GetProgram,
              .set = SetProgram,
              .written_only_if_set = true,
              .takes_words = true},
      SpecKey{"hidden", "hidden", "N,N,...", "mlp: widths of the hidden layers; empty: 2048,2048",
              IntegerList, Get<&RunSpec::widths>, Set<&RunSpec::widths>},
      SpecKey{.name = "loss",
              .json_name = "loss",
              .placeholder = "NAME",
              .help = "script models: cross-entropy, mse or mae; empty: cross-entropy for classes, "
                      "mse for numbers",
              .parse = Text,
              .get = Get<&RunSpec::loss>,
              .set = Set<&RunSpec::loss>,
              .written_only_if_set = true},
      SpecKey{"compute-ms", "compute_ms", "MS", "profile models: emulated compute of a step",
              Milliseconds, Get<&RunSpec::compute_ms>, Set<&RunSpec::compute_ms>},
      SpecKey{"straggler", "straggler", "none|kind=K,factor=X[,...]",
              "slow workers on purpose, emulated: kind=permanent,worker=0; rotating,every=10; "
              "random,probability=0.1",
              Text, GetStraggler, SetStraggler, true, true},
      SpecKey{"data", "data", "NAME",
              "samples (ringside list datasets); empty: digits, or none for profile models", Text,
              Get<&RunSpec::data>, Set<&RunSpec::data>},
      SpecKey{"data-dir", "data_dir", "DIR", "directory with the files of mnist, cifar10 ...", Text,
              Get<&RunSpec::data_dir>, Set<&RunSpec::data_dir>},
      SpecKey{"epochs", "epochs", "N", "passes over the training samples", Integer,
              Get<&RunSpec::epochs>, Set<&RunSpec::epochs>},
      SpecKey{"steps", "steps", "N", "steps to train; 0: as many as the epochs hold", Integer,
              Get<&RunSpec::steps>, Set<&RunSpec::steps>},
      SpecKey{"global-batch", "global_batch", "N",
              "samples of a step over all workers (strong scaling); 64 where no batch is given",
              BatchSize, Get<&RunSpec::global_batch>, Set<&RunSpec::global_batch>},
      SpecKey{"batch-per-worker", "batch_per_worker", "N",
              "samples of a step in each worker (weak scaling)", BatchSize,
              Get<&RunSpec::batch_per_worker>, Set<&RunSpec::batch_per_worker>},
      SpecKey{"optimizer", "optimizer", "NAME", "sgd, adam or adamw", Text, GetOptimizerKind,
              SetOptimizerKind},
      SpecKey{"lr", "learning_rate", "X", "learning rate", Real, Get<&RunSpec::learning_rate>,
              Set<&RunSpec::learning_rate>},
      SpecKey{"momentum", "momentum", "X", "sgd: momentum", Real,
              GetOptimizer<&OptimizerOptions::momentum>, SetOptimizer<&OptimizerOptions::momentum>},
      SpecKey{"nesterov", "nesterov", "", "sgd: Nesterov's momentum", Switch,
              GetOptimizer<&OptimizerOptions::nesterov>, SetOptimizer<&OptimizerOptions::nesterov>},
      SpecKey{"weight-decay", "weight_decay", "X", "L2 penalty; decoupled for adamw", Real,
              GetOptimizer<&OptimizerOptions::weight_decay>,
              SetOptimizer<&OptimizerOptions::weight_decay>},
      SpecKey{"beta1", "beta1", "X", "adam, adamw: decay of the first moment", Real,
              GetOptimizer<&OptimizerOptions::beta1>, SetOptimizer<&OptimizerOptions::beta1>},
      SpecKey{"beta2", "beta2", "X", "adam, adamw: decay of the second moment", Real,
              GetOptimizer<&OptimizerOptions::beta2>, SetOptimizer<&OptimizerOptions::beta2>},
      SpecKey{"epsilon", "epsilon", "X", "adam, adamw: added to the denominator", Real,
              GetOptimizer<&OptimizerOptions::epsilon>, SetOptimizer<&OptimizerOptions::epsilon>},
      SpecKey{"schedule-lr", "schedule_lr", "NAME",
              "learning rate over time: constant, step or cosine", Text, Get<&RunSpec::schedule>,
              Set<&RunSpec::schedule>},
      SpecKey{"lr-warmup-steps", "lr_warmup_steps", "N", "steps of linear warm-up", Integer,
              Get<&RunSpec::lr_warmup_steps>, Set<&RunSpec::lr_warmup_steps>},
      SpecKey{"lr-step-every", "lr_step_every", "N", "schedule step: steps between two decays",
              Integer, Get<&RunSpec::lr_step_every>, Set<&RunSpec::lr_step_every>},
      SpecKey{"lr-gamma", "lr_gamma", "X", "schedule step: factor of a decay", Real,
              Get<&RunSpec::lr_gamma>, Set<&RunSpec::lr_gamma>},
      SpecKey{"scale-lr", "scale_lr", "", "multiply the learning rate by the number of workers",
              Switch, Get<&RunSpec::scale_lr_with_workers>, Set<&RunSpec::scale_lr_with_workers>},
      SpecKey{"seed", "seed", "N", "of initial parameters and of the order of samples", Integer,
              Get<&RunSpec::seed>, Set<&RunSpec::seed>},
      SpecKey{"repetition", "repetition", "N", "number of this repetition", Integer,
              Get<&RunSpec::repetition>, Set<&RunSpec::repetition>, false},
      SpecKey{"bucket-mb", "bucket_bytes", "MIB",
              "size of a bucket, in MiB or with a unit (64KiB); 0: one per tensor", Mebibytes,
              Get<&RunSpec::bucket_bytes>, Set<&RunSpec::bucket_bytes>, true, false, Bytes,
              1 << 20},
      SpecKey{"overlap", "overlap", "on|off",
              "communicate while the model computes; off: after the backward pass alone", Switch,
              Get<&RunSpec::overlap>, Set<&RunSpec::overlap>},
      SpecKey{"threads", "threads", "N", "compute threads of a worker", Integer,
              Get<&RunSpec::threads>, Set<&RunSpec::threads>},
      SpecKey{"eval-every", "eval_every", "STEPS", "evaluate on the test split; 0: at the end",
              Integer, Get<&RunSpec::eval_every>, Set<&RunSpec::eval_every>},
      SpecKey{"checkpoint-every", "checkpoint_every", "STEPS", "write a checkpoint; 0: never",
              Integer, Get<&RunSpec::checkpoint_every>, Set<&RunSpec::checkpoint_every>},
      SpecKey{.name = "keep",
              .json_name = "keep_checkpoints",
              .placeholder = "N",
              .help = "newest checkpoints that stay; 0: all",
              .parse = Integer,
              .get = Get<&RunSpec::keep_checkpoints>,
              .set = Set<&RunSpec::keep_checkpoints>,
              .written_only_if_set = true},
      SpecKey{.name = "check-replicas",
              .json_name = "check_replicas",
              .placeholder = "STEPS",
              .help = "compare the parameters of all workers every so many steps; 0: never",
              .parse = Integer,
              .get = Get<&RunSpec::check_replicas>,
              .set = Set<&RunSpec::check_replicas>,
              .written_only_if_set = true},
      SpecKey{"resume", "resume", "PATH",
              "checkpoint to start from, or a bundle: its newest whole checkpoint", Text,
              Get<&RunSpec::resume>, Set<&RunSpec::resume>},
      SpecKey{"timeline", "timeline", "", "write a trace that ui.perfetto.dev opens", Switch,
              Get<&RunSpec::timeline>, Set<&RunSpec::timeline>},
      SpecKey{"timeline-steps", "timeline_steps", "FIRST:END[:EVERY]",
              "steps that the trace shows: 10:20 are 10 to 19, ::10 every tenth; empty: all", Text,
              GetTimelineSteps, SetTimelineSteps},
      SpecKey{"timeline-filename", "timeline_filename", "FILE",
              "write the trace here, not to trace.json in the bundle", Text,
              Get<&RunSpec::timeline_filename>, Set<&RunSpec::timeline_filename>},
      SpecKey{"save-params", "save_params", "", "keep the final parameters in params.bin", Switch,
              Get<&RunSpec::save_params>, Set<&RunSpec::save_params>},
      SpecKey{"warmup-steps", "warmup_steps", "N", "first steps left out of the step time", Integer,
              Get<&RunSpec::warmup_steps>, Set<&RunSpec::warmup_steps>},
      SpecKey{"link", "link_bits_per_s", "RATE",
              "declared rate of every host's link (1Gbps), for bounds and slices", Rate,
              Get<&RunSpec::link_bits_per_s>, Set<&RunSpec::link_bits_per_s>},
      SpecKey{"latency", "link_latency_s", "TIME", "declared latency of a message (50us)", Seconds,
              Get<&RunSpec::link_latency_s>, Set<&RunSpec::link_latency_s>},
      SpecKey{"timeout", "timeout_s", "TIME", "deadline of one operation (30s)", Seconds,
              Get<&RunSpec::timeout_s>, Set<&RunSpec::timeout_s>},
  };
}

namespace {

/// The system would take a path only up to that character.
void RefuseNull(const SpecKey& key, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return;
  throw SpecKeyError(key.name, "it holds a null character");
}

}  // namespace

void SetSpecKey(RunSpec& spec, const SpecKey& key, const json& value) {
  if (value.is_string()) RefuseNull(key, value.get_ref<const std::string&>());
  try {
    key.set(spec, value);
  } catch (const ConfigError& error) {
    throw SpecKeyError(key.name, error.what());
  } catch (const json::exception&) {
    throw SpecKeyError(key.name, value.dump() + " is of the wrong type");
  }
}

void SetSpecKey(RunSpec& spec, std::string_view name, std::string_view text) {
  const SpecKey* key = spec.catalog().FindKey(name);
  if (key == nullptr) {
    throw SpecKeyError(std::string(name),
                       "no such key" + DidYouMean(name, spec.catalog().KeyNames()));
  }
  RefuseNull(*key, text);
  const bool base_units = key->parse_base_units != nullptr && !IsSameKey(key->name, name);
  try {
    key->set(spec, base_units ? key->parse_base_units(text) : key->parse(text));
  } catch (const ConfigError& error) {
    throw SpecKeyError(key->name, error.what());
  }
}

}  // namespace ringside
