#include "ringside/experiments/spec/resolve/resolve.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/spec/resolve/option_checks.h"
#include "ringside/experiments/spec/resolve/refusals.h"
#include "ringside/experiments/spec/resolve/resolve_model.h"
#include "ringside/experiments/spec/resolve/resolve_world.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {
namespace {

constexpr std::int64_t kDefaultGlobalBatch = 64;
constexpr double kMaxTimeoutSeconds = 1e6;  // 11 days

void CheckStraggler(const RunSpec& spec, const ModelEntry& model) {
  if (spec.straggler.kind == StragglerOptions::Kind::kNone) return;
  const int worker = spec.straggler.worker;
  Refuse(spec.straggler.kind == StragglerOptions::Kind::kPermanent && worker >= spec.workers,
         "straggler", "there is no worker {} among {}; they count from 0", worker, spec.workers);
  Refuse(model.traits.emulates_compute && spec.compute_ms == 0, "straggler",
         "{} has no compute time that can be slowed down; give compute-ms", spec.model);
  RefuseTogether(model.traits.needs_gpu, "straggler", {"model"},
                 "a worker is slowed down by waiting, and {} computes on a GPU that goes on",
                 spec.model);
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
}

void CheckReplicaChecks(const RunSpec& spec, const StrategyEntry& strategy) {
  Refuse(spec.check_replicas < 0, "check-replicas", "{} is negative", spec.check_replicas);
  RefuseTogether(spec.check_replicas > 0 && !strategy.traits.synchronous(), "check-replicas",
                 {"strategy"},
                 "the workers of '{}' may have different parameters; take a synchronous strategy",
                 spec.strategy);
}

}  // namespace

RunSpec Resolve(RunSpec spec, RunsOn where) {
  spec = ResolveForAnotherMachine(std::move(spec));
  RequireFiles(spec);
  CheckResume(spec.resume);
  // What this machine has is checked last, so that wrong values are reported first.
  if (where == RunsOn::kThisMachine) {
    RequireStrategy(spec);
    RequireDevice(spec);
  }
  RequireModel(spec, ModelOf(spec));
  return spec;
}

RunSpec ResolveForAnotherMachine(RunSpec spec) {
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

RunSpec ResolveStrategy(RunSpec spec, RunsOn where) {
  const StrategyEntry& strategy = StrategyOf(spec);
  CheckRest(spec);
  ResolveHosts(spec);
  ResolveWorld(spec, strategy);
  ResolveNetwork(spec, strategy);
  CheckDilation(spec);
  CheckOptions(spec, strategy);
  CheckResume(spec.resume);
  if (where == RunsOn::kThisMachine) RequireStrategy(spec);
  return spec;
}

}  // namespace ringside
