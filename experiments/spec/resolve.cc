// `Resolve` of run_spec.h: every check that can be made before anything starts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/availability.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/idle_servers.h"
#include "ringside/experiments/spec/option_checks.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"
#include "ringside/experiments/system/build_info.h"
#include "ringside/experiments/system/find_program.h"
#include "ringside/experiments/text/did_you_mean.h"

namespace ringside {
namespace {

constexpr int kMaxWorkers = 4096;
// With more than one server per worker the worker's own link is the limit. A few more servers can
// still help if servers compute slowly.
constexpr int kMaxServersPerWorker = 4;
constexpr std::int64_t kDefaultGlobalBatch = 64;
// A program tells the size of its batches step by step.
constexpr std::int64_t kProgramBatch = 1;
constexpr double kMaxTimeoutSeconds = 1e6;  // 11 days

template <typename... Args>
void Refuse(bool wrong, std::string_view key, fmt::format_string<Args...> reason, Args&&... args) {
  if (wrong) {
    throw SpecKeyError(std::string(key), fmt::format(reason, std::forward<Args>(args)...));
  }
}

// Throws for values that do not fit together: names the key to change, then the others.
template <typename... Args>
void RefuseTogether(bool wrong, std::string_view key,
                    std::initializer_list<std::string_view> others,
                    fmt::format_string<Args...> reason, Args&&... args) {
  if (wrong) {
    throw SpecKeyError(std::string(key), fmt::format(reason, std::forward<Args>(args)...), others);
  }
}

[[noreturn]] void RefuseUnknown(std::string_view key, std::string_view what, std::string_view name,
                                const std::vector<std::string_view>& names) {
  throw SpecKeyError(std::string(key),
                     fmt::format("no {} is called '{}'{}; there are {}", what, name,
                                 DidYouMean(name, names), fmt::join(names, ", ")));
}

template <typename Entry>
const Entry& EntryOf(const Entry* found, std::span<const Entry> table, std::string_view key,
                     std::string_view what, std::string_view name) {
  if (found != nullptr) return *found;
  std::vector<std::string_view> names;
  for (const Entry& entry : table) names.emplace_back(entry.name);
  RefuseUnknown(key, what, name, names);
}

const StrategyEntry& StrategyOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindStrategy(spec.strategy), catalog.strategies(), "strategy", "strategy",
                 spec.strategy);
}

const ModelEntry& ModelOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindModel(spec.model), catalog.models(), "model", "model", spec.model);
}

const DatasetEntry& DatasetOf(const RunSpec& spec) {
  const Catalog& catalog = spec.catalog();
  return EntryOf(catalog.FindDataset(spec.data), catalog.datasets(), "data", "dataset", spec.data);
}

/// The dataset of a spec that names none: the first with samples, or the first without.
const DatasetEntry& DefaultDataset(const RunSpec& spec, bool has_samples) {
  const auto datasets = spec.catalog().datasets();
  return *std::ranges::find(datasets, has_samples, &DatasetEntry::has_samples);
}

/// "only mlp has hidden widths": the models of the catalog with a trait, and what that lets them
/// do.
std::string OfModels(const RunSpec& spec, bool ModelTraits::*trait, std::string_view one_does,
                     std::string_view many_do) {
  std::vector<std::string_view> names;
  for (const ModelEntry& model : spec.catalog().models()) {
    if (model.traits.*trait) names.emplace_back(model.name);
  }
  if (names.empty()) return fmt::format("no model {}", one_does);
  return fmt::format("only {} {}", fmt::join(names, ", "), names.size() == 1 ? one_does : many_do);
}

/// " or take ps-sync": the first strategy of the catalog with servers; empty without one.
std::string OrTakeOneWithServers(const RunSpec& spec) {
  const auto strategies = spec.catalog().strategies();
  const auto has_servers = [](const StrategyEntry& entry) { return entry.traits.has_servers(); };
  const auto found = std::ranges::find_if(strategies, has_servers);
  return found == strategies.end() ? "" : fmt::format(" or take {}", found->name);
}

// A program decides what every model's keys decide elsewhere.
void RefuseModelKeys(const RunSpec& spec) {
  const RunSpec defaults(spec.catalog());
  const auto refuse = [&](std::initializer_list<std::string_view> keys, std::string_view what) {
    for (const std::string_view key : keys) {
      const SpecKey& entry = *spec.catalog().FindKey(key);
      RefuseTogether(entry.get(spec) != entry.get(defaults), key, {"program"},
                     "the program decides {}; omit {}", what, key);
    }
  };
  RefuseTogether(spec.batch_per_worker > kProgramBatch, "batch-per-worker", {"program"},
                 "the program decides its batches; omit batch-per-worker");
  refuse({"global-batch"}, "its batches");
  refuse({"epochs"}, "its epochs");
  refuse({"optimizer", "momentum", "nesterov", "weight-decay", "beta1", "beta2", "epsilon"},
         "its optimizer");
  refuse({"lr", "scale-lr", "schedule-lr", "lr-warmup-steps", "lr-step-every", "lr-gamma"},
         "its learning rate");
  refuse({"eval-every"}, "when it evaluates");
  refuse({"checkpoint-every", "keep", "resume"}, "its checkpoints");
}

// Checks the program that is the model of this run, if there is one, and names that model.
void ResolveProgram(RunSpec& spec) {
  if (spec.program.empty()) {
    RefuseTogether(spec.model == kProgramModel, "model", {"program"},
                   "give the program: ringside train ... -- python3 train.py");
    return;
  }
  const std::string& command = spec.program.front();
  Refuse(command.empty(), "program", "its first word is empty");
  Refuse(PathOfCommand(command).empty(), "program", "there is no program '{}'{}", command,
         command.find('/') == std::string::npos ? " in PATH" : "");
  RefuseTogether(spec.model != RunSpec().model && spec.model != kProgramModel, "model", {"program"},
                 "the program is the model; omit model");
  RefuseModelKeys(spec);
  spec.model = kProgramModel;
  spec.batch_per_worker = kProgramBatch;
}

void CheckLoss(const RunSpec& spec, const ModelEntry& model) {
  if (spec.loss.empty()) return;
  Refuse(!model.traits.takes_loss, "loss", "model '{}' has its own; {}", spec.model,
         OfModels(spec, &ModelTraits::takes_loss, "takes a loss", "take a loss"));
  const std::vector<std::string_view> names{"cross-entropy", "mse", "mae"};
  if (std::ranges::find(names, spec.loss) == names.end()) {
    RefuseUnknown("loss", "loss", spec.loss, names);
  }
}

void RequireFile(const std::string& name, const std::string& entry_name, std::string_view key) {
  const std::string path = FileOf(name, entry_name);
  std::error_code unreadable;  // is no file then
  Refuse(!std::filesystem::is_regular_file(path, unreadable), key, "there is no file '{}'", path);
}

void ResolveModel(const RunSpec& spec, const ModelEntry& model) {
  Refuse(!(spec.compute_ms >= 0), "compute-ms", "the compute time cannot be {} ms",
         spec.compute_ms);
  Refuse(spec.compute_ms > 0 && !model.traits.emulates_compute, "compute-ms",
         "model '{}' really computes; {}", spec.model,
         OfModels(spec, &ModelTraits::emulates_compute, "takes an emulated compute time",
                  "take an emulated compute time"));
  Refuse(!spec.widths.empty() && !model.traits.takes_widths, "hidden", "{}, not {}",
         OfModels(spec, &ModelTraits::takes_widths, "has hidden widths", "have hidden widths"),
         spec.model);
  CheckLoss(spec, model);
  if (model.traits.takes_file) RequireFile(spec.model, model.name, "model");
  for (const int width : spec.widths) {
    Refuse(width < 1, "hidden", "a layer cannot have {} units; give widths of at least 1", width);
  }
}

void ResolveData(RunSpec& spec, const ModelEntry& model) {
  const bool reads = model.traits.reads_samples;
  if (spec.data.empty()) spec.data = DefaultDataset(spec, reads).name;
  const DatasetEntry& data = DatasetOf(spec);
  Refuse(!reads && data.has_samples, "data", "{} reads no samples; omit data or give '{}'",
         spec.model, DefaultDataset(spec, false).name);
  Refuse(reads && !data.has_samples, "data", "model '{}' needs samples; try {}", model.name,
         DefaultDataset(spec, true).name);
  if (data.takes_file) RequireFile(spec.data, data.name, "data");
  if (!data.needs_directory) {
    spec.data_dir.clear();
    return;
  }
  RefuseTogether(spec.data_dir.empty(), "data-dir", {"data"},
                 "dataset '{}' is read from files; name their directory", spec.data);
  Refuse(!std::filesystem::is_directory(spec.data_dir), "data-dir", "'{}' is not a directory",
         spec.data_dir);
}

void RefuseIdleServers(const RunSpec& spec, const ModelEntry& model) {
  const DatasetEntry& data = DatasetOf(spec);
  // Otherwise the workers find out.
  if (spec.servers == 0 || !model.traits.tensors_known || data.takes_file) return;
  const int idle = IdleServers(
      spec, model.tensors({.input = data.shape, .classes = data.classes, .widths = spec.widths}));
  Refuse(idle > 0, "servers",
         "{} servers for {} buckets, or slices of them, would leave {} idle; take fewer servers or "
         "smaller buckets (bucket-mb)",
         spec.servers, spec.servers - idle, idle);
}

void ResolveHosts(RunSpec& spec) {
  if (!spec.network || spec.workers < 1 || spec.hosts < 0) return;
  try {
    spec.hosts = WorkerHosts(*spec.network, spec.workers, spec.hosts);
  } catch (const ConfigError& error) {
    throw SpecKeyError("network", error.what());
  }
}

// Throws when this run needs one host and has more. `key` is the key that sets the hosts.
void RefuseSeveralHosts(const RunSpec& spec, int hosts, std::string_view key) {
  const std::optional<OneHostNeed> need = OneHostNeedOf(spec);
  if (hosts <= 1 || !need) return;
  if (need->key.empty())
    throw SpecKeyError(std::string(key),
                       fmt::format("strategy '{}' {}", spec.strategy, need->reason));
  throw SpecKeyError(need->key, fmt::format("there are {} hosts; {}", hosts, need->reason));
}

// Throws when the strategy's bytes would not use the emulated links.
void RefuseUnlinked(const RunSpec& spec, const StrategyEntry& strategy, const NetworkPlan& plan) {
  Refuse(!strategy.passes_links_by.empty(), "network", "strategy '{}' {}", spec.strategy,
         strategy.passes_links_by);
  RefuseSeveralHosts(spec, static_cast<int>(plan.hosts.size()), "network");
}

// Checks the network and fills in the link values, which the communication bound uses.
void ResolveNetwork(RunSpec& spec, const StrategyEntry& strategy) {
  if (!spec.network) return;
  NetworkPlan plan;
  try {
    plan = PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
  } catch (const ConfigError& error) {
    throw SpecKeyError("network", error.what());
  }
  RefuseUnlinked(spec, strategy, plan);
  const double rate = plan.fastest_bits_per_s();
  Refuse(spec.link_bits_per_s > 0 && spec.link_bits_per_s != rate, "link",
         "the links are those of the network; omit link");
  Refuse(spec.link_latency_s > 0 && spec.link_latency_s != spec.network->latency_s, "latency",
         "the latency is that of the network; omit latency");
  spec.link_bits_per_s = rate;
  spec.link_latency_s = spec.network->latency_s;
}

void CheckDilation(const RunSpec& spec) {
  if (!spec.dilation.wanted()) return;
  RefuseTogether(!spec.network, "dilation", {"network"},
                 "only an emulated network can be slowed down; add network, or omit dilation");
  if (!spec.network) return;  // refused above
  try {
    CheckDilation(spec.dilation, *spec.network);
  } catch (const ConfigError& error) {
    throw SpecKeyError("dilation", error.what(), {"network"});
  }
}

void CheckDilationOf(const RunSpec& spec, const ModelEntry& model) {
  RefuseTogether(spec.dilation.wanted() && !model.traits.emulates_compute, "dilation", {"model"},
                 "model '{}' really computes, and its compute cannot be slowed down; {}",
                 spec.model,
                 OfModels(spec, &ModelTraits::emulates_compute, "emulates its compute",
                          "emulate their compute"));
}

void ResolveWorld(RunSpec& spec, const StrategyEntry& strategy) {
  Refuse(spec.workers < 1, "workers", "{} workers cannot train; give at least 1", spec.workers);
  Refuse(spec.workers > kMaxWorkers, "workers", "{} workers are more than {}", spec.workers,
         kMaxWorkers);
  Refuse(spec.hosts < 0, "hosts", "hosts cannot be {}; 0 means the real hosts", spec.hosts);
  Refuse(spec.hosts > spec.workers, "hosts",
         "{} hosts for {} workers would leave some without; give at most one per worker",
         spec.hosts, spec.workers);
  RefuseSeveralHosts(spec, spec.hosts, spec.network ? "network" : "hosts");
  Refuse(spec.servers < 0, "servers", "servers cannot be {}; 0 means the strategy's default",
         spec.servers);
  if (!strategy.traits.has_servers()) {
    Refuse(spec.servers != 0 || spec.colocated || spec.servers_as_workers, "servers",
           "strategy '{}' has no servers; leave servers away{}", spec.strategy,
           OrTakeOneWithServers(spec));
    return;
  }
  const bool everywhere = strategy.traits.servers == ServerPlacement::kEveryWorker;
  Refuse(everywhere && spec.colocated, "servers",
         "strategy '{}' already has a server in every worker; give the number of further ones",
         spec.strategy);
  if (spec.servers_as_workers) {
    spec.servers = spec.workers;
    spec.servers_as_workers = false;
  }
  if (spec.servers == 0 && !everywhere) {
    spec.servers = spec.colocated ? spec.workers : 1;
  }
  Refuse(spec.colocated && spec.servers > spec.workers, "servers",
         "{} co-located servers do not fit in {} workers; give at most one per worker",
         spec.servers, spec.workers);
  Refuse(spec.servers > kMaxServersPerWorker * spec.workers, "servers",
         "{} servers for {} workers are too many: with one server per worker, the worker's own "
         "link is already the limit; give at most {}",
         spec.servers, spec.workers, kMaxServersPerWorker * spec.workers);
}

void CheckStraggler(const RunSpec& spec, const ModelEntry& model) {
  if (spec.straggler.kind == StragglerOptions::Kind::kNone) return;
  const int worker = spec.straggler.worker;
  Refuse(spec.straggler.kind == StragglerOptions::Kind::kPermanent && worker >= spec.workers,
         "straggler", "there is no worker {} among {}; they count from 0", worker, spec.workers);
  Refuse(model.traits.emulates_compute && spec.compute_ms == 0, "straggler",
         "{} has no compute time that can be slowed down; give compute-ms", spec.model);
}

void ResolveLength(RunSpec& spec, const ModelEntry& model) {
  Refuse(spec.steps < 0, "steps", "{} steps cannot be trained", spec.steps);
  Refuse(spec.steps > kMaxSteps, "steps", "{} steps are more than {}", spec.steps, kMaxSteps);
  Refuse(spec.epochs > kMaxSteps, "epochs", "{} epochs are more than {} steps", spec.epochs,
         kMaxSteps);
  Refuse(spec.steps == 0 && spec.epochs < 1, "epochs",
         "{} epochs train nothing; give at least 1, or give steps", spec.epochs);
  RefuseTogether(spec.steps == 0 && !model.traits.reads_samples && !model.traits.is_program,
                 "steps", {"model"}, "{} has no samples, so it has no epochs; give steps",
                 spec.model);
  Refuse(spec.global_batch < 0, "global-batch", "a batch cannot be {} samples", spec.global_batch);
  Refuse(spec.batch_per_worker < 0, "batch-per-worker", "a batch cannot be {} samples",
         spec.batch_per_worker);
  Refuse(spec.global_batch > 0 && spec.batch_per_worker > 0, "batch-per-worker",
         "given together with global-batch; one of them follows from the other: give one");
  if (spec.batch_per_worker == 0 && spec.global_batch == 0) {
    spec.global_batch = kDefaultGlobalBatch;
  }
  RefuseTogether(spec.global_batch > 0 && spec.global_batch < spec.workers, "global-batch",
                 {"workers"}, "{} samples are fewer than {} workers; give at least one a worker",
                 spec.global_batch, spec.workers);
  const std::size_t samples = DatasetOf(spec).train_samples;
  if (samples > 0) RefuseLargeBatch(spec, samples);
}

void CheckOptimizer(const RunSpec& spec) {
  const OptimizerOptions& options = spec.optimizer;
  const bool sgd = options.kind == OptimizerOptions::Kind::kSgd;
  Refuse(!(spec.learning_rate > 0) || !std::isfinite(spec.learning_rate), "lr",
         "a learning rate of {} does not train; give a number above 0", spec.learning_rate);
  Refuse(!(options.momentum >= 0 && options.momentum < 1), "momentum",
         "{} is outside of 0 <= momentum < 1", options.momentum);
  Refuse(!sgd && options.momentum > 0, "momentum", "belongs to sgd; adam and adamw have beta1");
  Refuse(options.nesterov && options.momentum == 0, "nesterov",
         "needs a momentum; add momentum 0.9");
  Refuse(!(options.weight_decay >= 0), "weight-decay", "{} is negative", options.weight_decay);
  Refuse(!(options.beta1 >= 0 && options.beta1 < 1), "beta1", "{} is outside of 0 <= beta1 < 1",
         options.beta1);
  Refuse(!(options.beta2 >= 0 && options.beta2 < 1), "beta2", "{} is outside of 0 <= beta2 < 1",
         options.beta2);
  Refuse(!(options.epsilon > 0), "epsilon", "{} is not above 0", options.epsilon);
}

void CheckSchedule(const RunSpec& spec) {
  const std::vector<std::string_view> names{"constant", "step", "cosine"};
  if (std::ranges::find(names, spec.schedule) == names.end()) {
    RefuseUnknown("schedule-lr", "schedule", spec.schedule, names);
  }
  Refuse(spec.lr_warmup_steps < 0, "lr-warmup-steps", "{} is negative", spec.lr_warmup_steps);
  Refuse(spec.lr_step_every < 0, "lr-step-every", "{} is negative", spec.lr_step_every);
  RefuseTogether(spec.schedule == "step" && spec.lr_step_every == 0, "lr-step-every",
                 {"schedule-lr"}, "schedule 'step' needs the number of steps between two decays");
  Refuse(!(spec.lr_gamma > 0 && spec.lr_gamma <= 1), "lr-gamma", "{} is outside of 0 < gamma <= 1",
         spec.lr_gamma);
}

void CheckResume(const std::string& path) {
  if (path.empty()) return;
  std::error_code unreadable;  // is no checkpoint then
  if (std::filesystem::is_directory(path, unreadable)) {
    std::string folder;
    try {
      folder = FindCheckpointFolder(path);
    } catch (const DataError& error) {
      Refuse(true, "resume", "{}", error.what());
    }
    Refuse(folder.empty(), "resume", "there is no checkpoint in '{}'", path);
  } else {
    Refuse(!std::filesystem::is_regular_file(path, unreadable), "resume",
           "there is no checkpoint '{}'", path);
  }
}

void CheckRest(const RunSpec& spec) {
  Refuse(spec.repetition < 0, "repetition", "{} is negative", spec.repetition);
  Refuse(spec.bucket_bytes < 0, "bucket-mb", "a bucket cannot have {} bytes", spec.bucket_bytes);
  Refuse(spec.threads < 1, "threads", "{} threads cannot compute; give at least 1", spec.threads);
  Refuse(spec.eval_every < 0, "eval-every", "{} is negative", spec.eval_every);
  Refuse(spec.checkpoint_every < 0, "checkpoint-every", "{} is negative", spec.checkpoint_every);
  Refuse(spec.warmup_steps < 0, "warmup-steps", "{} is negative", spec.warmup_steps);
  Refuse(!(spec.link_bits_per_s >= 0), "link", "{} bit/s is negative", spec.link_bits_per_s);
  Refuse(!(spec.link_latency_s >= 0), "latency", "{} s is negative", spec.link_latency_s);
  Refuse(!(spec.timeout_s > 0), "timeout", "{} s leave no time for any operation; try 30s",
         spec.timeout_s);
  Refuse(spec.timeout_s > kMaxTimeoutSeconds, "timeout", "{} s are more than {} s", spec.timeout_s,
         kMaxTimeoutSeconds);
  Refuse(spec.keep_checkpoints < 0, "keep", "{} is negative", spec.keep_checkpoints);
  CheckResume(spec.resume);
}

void CheckReplicaChecks(const RunSpec& spec, const StrategyEntry& strategy) {
  Refuse(spec.check_replicas < 0, "check-replicas", "{} is negative", spec.check_replicas);
  RefuseTogether(spec.check_replicas > 0 && !strategy.traits.synchronous(), "check-replicas",
                 {"strategy"},
                 "the workers of '{}' may have different parameters; take a synchronous strategy",
                 spec.strategy);
}

// This check and the next one come last, so that wrong values are reported first, whatever this
// build supports.
void RequireStrategy(const StrategyEntry& strategy) {
  const std::string reason = WhyUnavailable(strategy);
  if (reason.empty()) return;
  throw MissingKeyError("strategy",
                        fmt::format("strategy '{}' cannot run here: {}", strategy.name, reason));
}

void RequireModel(const RunSpec& spec, const ModelEntry& model) {
  if (model.make != nullptr || model.traits.is_program) return;
  if (spec.catalog().has_extensions()) {
    throw MissingKeyError(
        "model", fmt::format("model '{}' needs libtorch, which this program does not link: link "
                             "ringside::torch_models and add TorchModels() to its extensions",
                             spec.model));
  }
  if (ThisBuild().libtorch.empty()) {
    throw MissingKeyError(
        "model",
        fmt::format("model '{}' needs libtorch, which this build lacks: install libtorch-dev and "
                    "build with RINGSIDE_TORCH=ON, or take a model that needs none "
                    "(ringside list models)",
                    spec.model));
  }
}

}  // namespace

RunSpec Resolve(RunSpec spec) {
  // Steps or a filename for the timeline also ask for a timeline.
  if (spec.timeline_steps != TimelineSteps{} || !spec.timeline_filename.empty()) {
    spec.timeline = true;
  }
  ResolveProgram(spec);
  const StrategyEntry& strategy = StrategyOf(spec);
  const ModelEntry& model = ModelOf(spec);
  ResolveModel(spec, model);
  CheckRest(spec);
  ResolveData(spec, model);
  ResolveHosts(spec);
  ResolveWorld(spec, strategy);
  ResolveNetwork(spec, strategy);
  CheckDilation(spec);
  CheckDilationOf(spec, model);
  RefuseIdleServers(spec, model);
  CheckOptions(spec, strategy);
  CheckReplicaChecks(spec, strategy);
  CheckStraggler(spec, model);
  ResolveLength(spec, model);
  CheckOptimizer(spec);
  CheckSchedule(spec);
  RequireStrategy(strategy);
  RequireModel(spec, model);
  return spec;
}

void RefuseLargeBatch(const RunSpec& spec, std::size_t train_samples) {
  const auto samples = static_cast<std::int64_t>(train_samples);
  RefuseTogether(spec.global_batch > samples, "global-batch", {"data"},
                 "{} samples a step are more than the {} that '{}' has for training; give fewer",
                 spec.global_batch, samples, spec.data);
  RefuseTogether(spec.batch_per_worker > samples / spec.workers, "batch-per-worker",
                 {"workers", "data"},
                 "{} samples for each of {} workers are more than the {} that '{}' has for "
                 "training; give fewer",
                 spec.batch_per_worker, spec.workers, samples, spec.data);
}

RunSpec ResolveStrategy(RunSpec spec) {
  const StrategyEntry& strategy = StrategyOf(spec);
  CheckRest(spec);
  ResolveHosts(spec);
  ResolveWorld(spec, strategy);
  ResolveNetwork(spec, strategy);
  CheckDilation(spec);
  CheckOptions(spec, strategy);
  RequireStrategy(strategy);
  return spec;
}

}  // namespace ringside
