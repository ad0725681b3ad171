#include "experiments/spec_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "experiments/did_you_mean.h"
#include "experiments/timeline_steps.h"
#include "experiments/units.h"

namespace ringside {
namespace {

using nlohmann::json;

json Text(std::string_view text) { return std::string(text); }
json Integer(std::string_view text) { return ParseInteger(text); }
// 0 is how a spec says that nobody gave this kind of batch; who gives one means it.
json BatchSize(std::string_view text) {
  const std::int64_t samples = ParseInteger(text);
  if (samples == 0) throw ConfigError("a batch of 0 samples cannot be; give at least 1");
  return samples;
}
json Real(std::string_view text) { return ParseReal(text); }
json Switch(std::string_view text) { return ParseSwitch(text); }
json IntegerList(std::string_view text) { return ParseIntegerList(text); }
json Mebibytes(std::string_view text) { return ParseBytes(text, 1 << 20); }
json Rate(std::string_view text) { return ParseBitsPerSecond(text); }
json Seconds(std::string_view text) { return ParseSeconds(text); }
json Milliseconds(std::string_view text) {
  // A plain number is in the unit of the key's name; "80ms" or "0.1s" says its own.
  const bool plain = text.find_first_not_of("0123456789.+-eE") == std::string_view::npos;
  return plain ? ParseReal(text) : ParseSeconds(text) * 1e3;
}

// nlohmann converts silently between numbers and booleans; a spec must not.
template <typename T>
T Checked(const json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) throw ConfigError("true or false expected, not " + value.dump());
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer()) {
      throw ConfigError("a whole number expected, not " + value.dump());
    }
    const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                                 : std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw ConfigError(value.dump() + " is out of range");
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) throw ConfigError("a number expected, not " + value.dump());
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) throw ConfigError("text expected, not " + value.dump());
  } else {
    if (!value.is_array()) throw ConfigError("a list expected, not " + value.dump());
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

template <auto member>
json GetOption(const RunSpec& spec) {
  return spec.options.*member;
}
template <auto member>
void SetOption(RunSpec& spec, const json& value) {
  auto& target = spec.options.*member;
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

/// The values of an enumeration, by name. `what` names it in errors.
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
constexpr Names<SendOrder, 2> kSendOrders{
    "schedule", {{{SendOrder::kFifo, "fifo"}, {SendOrder::kPriority, "priority"}}}};
constexpr Names<PsTransport, 3> kPsTransports{
    "transport",
    {{{PsTransport::kGrpc, "grpc"}, {PsTransport::kUds, "uds"}, {PsTransport::kShm, "shm"}}}};
constexpr Names<NcclAlgorithm, 2> kNcclAlgorithms{
    "algorithm", {{{NcclAlgorithm::kRing, "ring"}, {NcclAlgorithm::kTree, "tree"}}}};
constexpr Names<HostSum, 2> kHostSums{"sum inside a host",
                                      {{{HostSum::kShm, "shm"}, {HostSum::kNccl, "nccl"}}}};
constexpr Names<ErrorFeedback, 3> kErrorFeedbacks{
    "error feedback",
    {{{ErrorFeedback::kAuto, "auto"}, {ErrorFeedback::kOn, "on"}, {ErrorFeedback::kOff, "off"}}}};

json GetOptimizerKind(const RunSpec& spec) { return kOptimizers.NameOf(spec.optimizer.kind); }
void SetOptimizerKind(RunSpec& spec, const json& value) {
  spec.optimizer.kind = kOptimizers.ValueOf(value);
}

template <auto member, const auto& names>
json GetNamed(const RunSpec& spec) {
  return names.NameOf(spec.options.*member);
}
template <auto member, const auto& names>
void SetNamed(RunSpec& spec, const json& value) {
  spec.options.*member = names.ValueOf(value);
}

json GetNetwork(const RunSpec& spec) {
  return spec.network ? NetworkText(*spec.network) : std::string();
}
void SetNetwork(RunSpec& spec, const json& value) {
  const auto text = Checked<std::string>(value);
  spec.network = text.empty() ? std::nullopt : std::optional(ParseNetwork(text));
}

json GetCodec(const RunSpec& spec) { return CodecText(spec.options.codec); }
void SetCodec(RunSpec& spec, const json& value) {
  ParseCodec(Checked<std::string>(value), spec.options.codec);
}
json GetStraggler(const RunSpec& spec) { return StragglerText(spec.straggler); }
void SetStraggler(RunSpec& spec, const json& value) {
  spec.straggler = ParseStraggler(Checked<std::string>(value));
}
json GetTimelineSteps(const RunSpec& spec) { return TimelineStepsText(spec.timeline_steps); }
void SetTimelineSteps(RunSpec& spec, const json& value) {
  spec.timeline_steps = ParseTimelineSteps(Checked<std::string>(value));
}
json GetErrorFeedback(const RunSpec& spec) {
  return kErrorFeedbacks.NameOf(spec.options.codec.error_feedback);
}
void SetErrorFeedback(RunSpec& spec, const json& value) {
  spec.options.codec.error_feedback = kErrorFeedbacks.ValueOf(value);
}

constexpr std::array kKeys{
    SpecKey{"strategy", "strategy", "NAME",
            "how gradients are synchronised (ringside list strategies)", true, Text,
            Get<&RunSpec::strategy>, Set<&RunSpec::strategy>},
    SpecKey{"workers", "workers", "N", "worker processes", true, Integer, Get<&RunSpec::workers>,
            Set<&RunSpec::workers>},
    SpecKey{"hosts", "hosts", "N",
            "deal the workers to N emulated hosts, in blocks; 0: hosts as they are", true, Integer,
            Get<&RunSpec::hosts>, Set<&RunSpec::hosts>},
    SpecKey{"network", "network", "RATE|NAME=VALUE,...",
            "emulate a cluster: a host is a network namespace whose link has this rate (1Gbps; "
            "hosts=2,rate=1Gbps; rates=, racks=, uplink=, latency=, jitter=, loss=, servers=)",
            true, Text, GetNetwork, SetNetwork, true},
    SpecKey{
        "servers", "servers", "N|workers|colocated[:N]",
        "dedicated parameter servers (workers: as many as those), or servers inside the workers; "
        "0: one dedicated; mixed: how many besides one in every worker",
        true, ParseServers, GetServers, SetServers},
    SpecKey{"schedule", "schedule", "ORDER",
            "which bucket leaves first: fifo, or priority (what the next forward pass reads first)",
            true, Text, GetNamed<&StrategyOptions::order, kSendOrders>,
            SetNamed<&StrategyOptions::order, kSendOrders>},
    SpecKey{"codec", "codec", "CODEC",
            "what a bucket becomes on the wire: fp32, fp16, bf16, int8, topk:RATIO, powersgd:RANK, "
            "sign",
            true, Text, GetCodec, SetCodec},
    SpecKey{
        "error-feedback", "error_feedback", "auto|on|off",
        "add what a codec lost to the next gradient; auto: where its error does not average out",
        true, Text, GetErrorFeedback, SetErrorFeedback},
    SpecKey{"ps-transport", "ps_transport", "NAME",
            "between worker and server: grpc (TCP), or uds and shm on one host", true, Text,
            GetNamed<&StrategyOptions::ps_transport, kPsTransports>,
            SetNamed<&StrategyOptions::ps_transport, kPsTransports>},
    SpecKey{"staleness", "staleness", "S", "ps-ssp: how many steps a worker may be ahead", true,
            Integer, GetOption<&StrategyOptions::staleness>,
            SetOption<&StrategyOptions::staleness>},
    SpecKey{"backups", "backups", "B", "ps-backup: pushes of a step that are not waited for", true,
            Integer, GetOption<&StrategyOptions::backups>, SetOption<&StrategyOptions::backups>},
    SpecKey{"staleness-lr", "staleness_lr", "",
            "ps-async: divide the learning rate of a push by 1 + its staleness", true, Switch,
            GetOption<&StrategyOptions::staleness_lr>, SetOption<&StrategyOptions::staleness_lr>},
    SpecKey{"sync-every", "sync_every", "H",
            "local-sgd, diloco: steps between two averages of the parameters", true, Integer,
            GetOption<&StrategyOptions::sync_every>, SetOption<&StrategyOptions::sync_every>},
    SpecKey{"outer-lr", "outer_lr", "X", "diloco: outer learning rate", true, Real,
            GetOption<&StrategyOptions::outer_lr>, SetOption<&StrategyOptions::outer_lr>},
    SpecKey{"outer-momentum", "outer_momentum", "X", "diloco: outer Nesterov momentum", true, Real,
            GetOption<&StrategyOptions::outer_momentum>,
            SetOption<&StrategyOptions::outer_momentum>},
    SpecKey{"nccl-algorithm", "nccl_algorithm", "NAME", "nccl: ring or tree, pinned", true, Text,
            GetNamed<&StrategyOptions::nccl_algorithm, kNcclAlgorithms>,
            SetNamed<&StrategyOptions::nccl_algorithm, kNcclAlgorithms>},
    SpecKey{"nccl-share-gpu", "nccl_share_gpu", "",
            "nccl: workers may share a GPU; emulated: NCCL takes each for a host, and uses sockets",
            true, Switch, GetOption<&StrategyOptions::nccl_share_gpu>,
            SetOption<&StrategyOptions::nccl_share_gpu>},
    SpecKey{"host-sum", "host_sum", "NAME",
            "hierarchical: inside a host sum in shm, or by nccl on its GPUs", true, Text,
            GetNamed<&StrategyOptions::host_sum, kHostSums>,
            SetNamed<&StrategyOptions::host_sum, kHostSums>},
    SpecKey{"model", "model", "NAME", "what is trained (ringside list models)", true, Text,
            Get<&RunSpec::model>, Set<&RunSpec::model>},
    SpecKey{"hidden", "hidden", "N,N,...", "mlp: widths of the hidden layers; empty: 2048,2048",
            true, IntegerList, Get<&RunSpec::widths>, Set<&RunSpec::widths>},
    SpecKey{"compute-ms", "compute_ms", "MS", "profile models: emulated compute of a step", true,
            Milliseconds, Get<&RunSpec::compute_ms>, Set<&RunSpec::compute_ms>},
    SpecKey{"straggler", "straggler", "none|kind=K,factor=X[,...]",
            "slow workers on purpose, emulated: kind=permanent,worker=0; rotating,every=10; "
            "random,probability=0.1",
            true, Text, GetStraggler, SetStraggler, true},
    SpecKey{"data", "data", "NAME",
            "samples (ringside list datasets); empty: digits, or none for profile models", true,
            Text, Get<&RunSpec::data>, Set<&RunSpec::data>},
    SpecKey{"data-dir", "data_dir", "DIR", "where the files of mnist, cifar10 ... lie", true, Text,
            Get<&RunSpec::data_dir>, Set<&RunSpec::data_dir>},
    SpecKey{"epochs", "epochs", "N", "passes over the training samples", true, Integer,
            Get<&RunSpec::epochs>, Set<&RunSpec::epochs>},
    SpecKey{"steps", "steps", "N", "steps to train; 0: as many as the epochs hold", true, Integer,
            Get<&RunSpec::steps>, Set<&RunSpec::steps>},
    SpecKey{"global-batch", "global_batch", "N",
            "samples of a step over all workers (strong scaling); 64 where no batch is given", true,
            BatchSize, Get<&RunSpec::global_batch>, Set<&RunSpec::global_batch>},
    SpecKey{"batch-per-worker", "batch_per_worker", "N",
            "samples of a step in each worker (weak scaling)", true, BatchSize,
            Get<&RunSpec::batch_per_worker>, Set<&RunSpec::batch_per_worker>},
    SpecKey{"optimizer", "optimizer", "NAME", "sgd, adam or adamw", true, Text, GetOptimizerKind,
            SetOptimizerKind},
    SpecKey{"lr", "learning_rate", "X", "learning rate", true, Real, Get<&RunSpec::learning_rate>,
            Set<&RunSpec::learning_rate>},
    SpecKey{"momentum", "momentum", "X", "sgd: momentum", true, Real,
            GetOptimizer<&OptimizerOptions::momentum>, SetOptimizer<&OptimizerOptions::momentum>},
    SpecKey{"nesterov", "nesterov", "", "sgd: Nesterov's momentum", true, Switch,
            GetOptimizer<&OptimizerOptions::nesterov>, SetOptimizer<&OptimizerOptions::nesterov>},
    SpecKey{"weight-decay", "weight_decay", "X", "L2 penalty; decoupled for adamw", true, Real,
            GetOptimizer<&OptimizerOptions::weight_decay>,
            SetOptimizer<&OptimizerOptions::weight_decay>},
    SpecKey{"beta1", "beta1", "X", "adam, adamw: decay of the first moment", true, Real,
            GetOptimizer<&OptimizerOptions::beta1>, SetOptimizer<&OptimizerOptions::beta1>},
    SpecKey{"beta2", "beta2", "X", "adam, adamw: decay of the second moment", true, Real,
            GetOptimizer<&OptimizerOptions::beta2>, SetOptimizer<&OptimizerOptions::beta2>},
    SpecKey{"epsilon", "epsilon", "X", "adam, adamw: added to the denominator", true, Real,
            GetOptimizer<&OptimizerOptions::epsilon>, SetOptimizer<&OptimizerOptions::epsilon>},
    SpecKey{"schedule-lr", "schedule_lr", "NAME",
            "learning rate over time: constant, step or cosine", true, Text,
            Get<&RunSpec::schedule>, Set<&RunSpec::schedule>},
    SpecKey{"lr-warmup-steps", "lr_warmup_steps", "N", "steps of linear warm-up", true, Integer,
            Get<&RunSpec::lr_warmup_steps>, Set<&RunSpec::lr_warmup_steps>},
    SpecKey{"lr-step-every", "lr_step_every", "N", "schedule step: steps between two decays", true,
            Integer, Get<&RunSpec::lr_step_every>, Set<&RunSpec::lr_step_every>},
    SpecKey{"lr-gamma", "lr_gamma", "X", "schedule step: factor of a decay", true, Real,
            Get<&RunSpec::lr_gamma>, Set<&RunSpec::lr_gamma>},
    SpecKey{"scale-lr", "scale_lr", "", "multiply the learning rate by the number of workers", true,
            Switch, Get<&RunSpec::scale_lr_with_workers>, Set<&RunSpec::scale_lr_with_workers>},
    SpecKey{"seed", "seed", "N", "of initial parameters and of the order of samples", true, Integer,
            Get<&RunSpec::seed>, Set<&RunSpec::seed>},
    SpecKey{"repetition", "repetition", "N", "number of this repetition", false, Integer,
            Get<&RunSpec::repetition>, Set<&RunSpec::repetition>},
    SpecKey{"bucket-mb", "bucket_bytes", "MIB",
            "size of a bucket, in MiB or with a unit (64KiB); 0: one per tensor", true, Mebibytes,
            Get<&RunSpec::bucket_bytes>, Set<&RunSpec::bucket_bytes>},
    SpecKey{"overlap", "overlap", "on|off",
            "communicate while the model computes; off: after the backward pass alone", true,
            Switch, Get<&RunSpec::overlap>, Set<&RunSpec::overlap>},
    SpecKey{"threads", "threads", "N", "compute threads of a worker", true, Integer,
            Get<&RunSpec::threads>, Set<&RunSpec::threads>},
    SpecKey{"eval-every", "eval_every", "STEPS", "evaluate on the test split; 0: at the end", true,
            Integer, Get<&RunSpec::eval_every>, Set<&RunSpec::eval_every>},
    SpecKey{"checkpoint-every", "checkpoint_every", "STEPS", "write a checkpoint; 0: never", true,
            Integer, Get<&RunSpec::checkpoint_every>, Set<&RunSpec::checkpoint_every>},
    SpecKey{"resume", "resume", "FILE", "checkpoint to start from", true, Text,
            Get<&RunSpec::resume>, Set<&RunSpec::resume>},
    SpecKey{"timeline", "timeline", "", "write a trace that ui.perfetto.dev opens", true, Switch,
            Get<&RunSpec::timeline>, Set<&RunSpec::timeline>},
    SpecKey{"timeline-steps", "timeline_steps", "FIRST:END[:EVERY]",
            "steps that the trace shows: 10:20 are 10 to 19, ::10 every tenth; empty: all", true,
            Text, GetTimelineSteps, SetTimelineSteps},
    SpecKey{"timeline-filename", "timeline_filename", "FILE",
            "write the trace here, not to trace.json in the bundle", true, Text,
            Get<&RunSpec::timeline_filename>, Set<&RunSpec::timeline_filename>},
    SpecKey{"save-params", "save_params", "", "keep the final parameters in params.bin", true,
            Switch, Get<&RunSpec::save_params>, Set<&RunSpec::save_params>},
    SpecKey{"warmup-steps", "warmup_steps", "N", "first steps left out of the step time", true,
            Integer, Get<&RunSpec::warmup_steps>, Set<&RunSpec::warmup_steps>},
    SpecKey{"link", "link_bits_per_s", "RATE",
            "declared rate of every host's link (1Gbps), for the bound; it shapes nothing", true,
            Rate, Get<&RunSpec::link_bits_per_s>, Set<&RunSpec::link_bits_per_s>},
    SpecKey{"latency", "link_latency_s", "TIME", "declared latency of a message (50us)", true,
            Seconds, Get<&RunSpec::link_latency_s>, Set<&RunSpec::link_latency_s>},
    SpecKey{"timeout", "timeout_s", "TIME", "deadline of one operation (30s)", true, Seconds,
            Get<&RunSpec::timeout_s>, Set<&RunSpec::timeout_s>},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kKeys.size()> names;
  for (std::size_t i = 0; i < kKeys.size(); ++i) names[i] = kKeys[i].name;
  return names;
}();

bool SameName(std::string_view a, std::string_view b) {
  const auto fold = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, fold, fold);
}

}  // namespace

std::span<const SpecKey> SpecKeys() { return kKeys; }

std::span<const std::string_view> SpecKeyNames() { return kNames; }

const SpecKey* FindSpecKey(std::string_view name) {
  const auto* found = std::ranges::find_if(kKeys, [&](const SpecKey& key) {
    return SameName(key.name, name) || SameName(key.json_name, name);
  });
  return found == kKeys.end() ? nullptr : found;
}

void SetSpecKey(RunSpec& spec, const SpecKey& key, const json& value) {
  try {
    key.set(spec, value);
  } catch (const ConfigError& error) {
    throw SpecKeyError(std::string(key.name), error.what());
  } catch (const json::exception&) {
    throw SpecKeyError(std::string(key.name), value.dump() + " is of the wrong type");
  }
}

void SetSpecKey(RunSpec& spec, std::string_view name, std::string_view text) {
  const SpecKey* key = FindSpecKey(name);
  if (key == nullptr) {
    throw SpecKeyError(std::string(name), "no such key" + DidYouMean(name, SpecKeyNames()));
  }
  const bool base_units = !SameName(key->name, name);
  try {
    const json value =
        base_units && key->parse == Mebibytes ? json(ParseBytes(text)) : key->parse(text);
    key->set(spec, value);
  } catch (const ConfigError& error) {
    throw SpecKeyError(std::string(key->name), error.what());
  }
}

}  // namespace ringside
