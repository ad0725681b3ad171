#include "ringside/experiments/worker/run_factories.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/data/sampler.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/bucket_sizes.h"
#include "ringside/experiments/spec/resolve/resolve.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kMinStartTimeout{60'000};
/// A program reads its data and compiles its model while the others wait.
constexpr std::chrono::milliseconds kMinProgramStartTimeout{600'000};
/// Of a value that another worker has set.
constexpr std::chrono::seconds kAgreementTimeout{5};

ScheduleOptions::Kind ScheduleKind(const std::string& name) {
  if (name == "constant") return ScheduleOptions::Kind::kConstant;
  if (name == "step") return ScheduleOptions::Kind::kStep;
  if (name == "cosine") return ScheduleOptions::Kind::kCosine;
  throw ConfigError("no schedule is called '" + name + "'; there are constant, step, cosine");
}

Loss LossOf(const std::string& name) {
  if (name.empty()) return Loss::kAuto;
  if (name == "cross-entropy") return Loss::kCrossEntropy;
  if (name == "mse") return Loss::kMse;
  if (name == "mae") return Loss::kMae;
  throw ConfigError("no loss is called '" + name + "'; there are cross-entropy, mse, mae");
}

}  // namespace

const StrategyEntry& EntryOf(const RunSpec& spec) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr) throw ConfigError("unknown strategy '" + spec.strategy + "'");
  return *entry;
}

std::unique_ptr<Dataset> MakeDataset(const RunSpec& spec) {
  const DatasetEntry* entry = spec.catalog().FindDataset(spec.data);
  if (entry == nullptr) throw ConfigError("unknown dataset '" + spec.data + "'");
  std::unique_ptr<Dataset> dataset = entry->make(
      {.directory = spec.data_dir, .file = FileOf(spec.data, entry->name), .seed = spec.seed});
  RefuseLargeBatch(spec, dataset->size(Split::kTrain));
  return dataset;
}

std::unique_ptr<Model> MakeModel(const RunSpec& spec, const Dataset& dataset, const World& world) {
  const ModelEntry* entry = spec.catalog().FindModel(spec.model);
  if (entry == nullptr) throw ConfigError("unknown model '" + spec.model + "'");
  if (entry->make == nullptr) {
    throw MissingBackendError("model '" + spec.model + "' needs ringside-worker, with libtorch");
  }
  if (!entry->traits.takes_loss && entry->traits.reads_samples &&
      (dataset.targets() > 0 || dataset.integer_inputs())) {
    throw ConfigError(
        fmt::format("model '{}' classifies samples of floats, and {} of '{}' are {}; take "
                    "script:FILE",
                    spec.model, dataset.targets() > 0 ? "the answers" : "the inputs", spec.data,
                    dataset.targets() > 0 ? "numbers" : "integers"));
  }
  return entry->make({.input = dataset.shape(),
                      .classes = dataset.classes(),
                      .targets = dataset.targets(),
                      .integer_inputs = dataset.integer_inputs(),
                      .seed = spec.seed,
                      .widths = spec.widths,
                      .compute_ms = spec.compute_ms,
                      .threads = spec.threads,
                      // The workers of all emulated hosts are on one machine.
                      .local_rank = spec.hosts > 0 ? world.rank : world.local_rank,
                      .file = FileOf(spec.model, entry->name),
                      .loss = LossOf(spec.loss)});
}

BucketPlan MakePlan(const RunSpec& spec, std::span<const TensorSpec> tensors) {
  return {tensors, BucketSizesOf(spec)};
}

FlatSpace MakeSpace(MemoryKind memory, const BucketPlan& plan, const MemberSetup& setup) {
  if (memory == MemoryKind::kOrdinary) return FlatSpace(plan.elements());
  return {plan.elements(), fmt::format("ringside-worker-{}", setup.who.index)};
}

ScheduleOptions MakeSchedule(const RunSpec& spec, std::int64_t total_steps) {
  ScheduleOptions options;
  options.kind = ScheduleKind(spec.schedule);
  options.base = spec.learning_rate;
  options.scale_with_workers = spec.scale_lr_with_workers;
  options.workers = spec.workers;
  options.warmup_steps = spec.lr_warmup_steps;
  options.total_steps = std::max<std::int64_t>(total_steps, 1);
  options.step_every = std::max<std::int64_t>(spec.lr_step_every, 1);
  options.gamma = spec.lr_gamma;
  return options;
}

std::int64_t TotalSteps(const RunSpec& spec, std::size_t train_samples) {
  if (spec.steps > 0) return spec.steps;
  if (EndsWithItsProgram(spec)) return kMaxSteps;
  const Sampler sampler(train_samples, static_cast<std::size_t>(spec.ResolvedGlobalBatch()),
                        spec.seed);
  const std::int64_t steps_per_epoch = sampler.steps_per_epoch();
  if (spec.epochs > kMaxSteps / std::max<std::int64_t>(steps_per_epoch, 1)) {
    throw ConfigError(fmt::format("{} epochs of {} steps are more than {} steps; give fewer",
                                  spec.epochs, steps_per_epoch, kMaxSteps));
  }
  return spec.epochs * steps_per_epoch;
}

namespace {

void AgreeOn(Store& store, const char* key, std::int64_t mine, const char* what) {
  const std::string value = std::to_string(mine);
  try {
    store.Set(key, value);
  } catch (const CommError&) {
    const std::string others = store.Get(key, Deadline::After(kAgreementTimeout));
    if (others == value) throw;
    throw ConfigError(fmt::format("{}: {} here, {} at another worker; give all the same files",
                                  what, value, others));
  }
}

}  // namespace

void AgreeOnSteps(Store& store, std::int64_t first_step, std::int64_t total_steps) {
  AgreeOn(store, "job/first_step", first_step, "the checkpoint's steps differ");
  AgreeOn(store, "job/total_steps", total_steps, "the data's steps differ");
}

void RefuseIdleServers(const RunSpec& spec, const BucketPlan& plan) {
  if (spec.servers <= plan.buckets()) return;
  throw ConfigError(fmt::format(
      "{} servers for {} buckets would leave {} idle; take fewer servers (--servers) or "
      "smaller buckets (--bucket-mb)",
      spec.servers, plan.buckets(), spec.servers - plan.buckets()));
}

std::int64_t WaitForTotalSteps(Store& store, int workers, const Deadline& deadline) {
  try {
    return std::stoll(store.Get("job/total_steps", deadline));
  } catch (const CommError&) {
    if (!deadline.expired()) throw;
    throw CommError(workers == 1 ? "worker 0" : fmt::format("workers 0 to {}", workers - 1),
                    "loading the model and the data",
                    workers == 1 ? "it is not ready yet" : "none of them is ready yet");
  }
}

std::chrono::milliseconds StartTimeout(const RunSpec& spec) {
  return std::max(spec.program.empty() ? kMinStartTimeout : kMinProgramStartTimeout,
                  OperationTimeout(spec));
}

std::chrono::milliseconds OperationTimeout(const RunSpec& spec) {
  return DilatedClock::ToMachine(
      std::chrono::milliseconds(static_cast<std::int64_t>(spec.timeout_s * 1000)));
}

namespace {

constexpr const char* kLargestMessageKey = "job/largest_message_bytes";

}  // namespace

int LargestMessageBytes(const BucketPlan& plan) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  constexpr std::size_t kPlanBytes = std::size_t{64} << 20;
  constexpr std::size_t kHeaderBytes = 1024;  // a frame's has fewer
  constexpr std::size_t kEncoded = 2;         // `topk` of all values: an index beside each
  std::size_t elements = 0;
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    elements = std::max(elements, plan.range(bucket).size());
  }
  const std::size_t bucket_bytes = kHeaderBytes + kEncoded * elements * sizeof(float);
  return static_cast<int>(std::min(kMost, std::max(bucket_bytes, kPlanBytes)));
}

void PublishLargestMessage(Store& store, int bytes) {
  try {
    store.Set(kLargestMessageKey, std::to_string(bytes));
  } catch (const CommError&) {
    // Another worker has another plan. The servers refuse one of the two, and say what differs.
    static_cast<void>(WaitForLargestMessage(store, Deadline::After(kAgreementTimeout)));
  }
}

int WaitForLargestMessage(Store& store, const Deadline& deadline) {
  return std::stoi(store.Get(kLargestMessageKey, deadline));
}

CommOptions MakeCommOptions(const MemberSetup& setup, int largest_message_bytes) {
  const RunSpec& spec = setup.spec;
  const double bits_per_s =
      spec.network ? spec.network->slowest_bits_per_s() : spec.link_bits_per_s;
  const double bytes_per_s =
      bits_per_s > 0 ? GoodputBytesPerSecond(bits_per_s) : setup.measured_bytes_per_s;
  const double latency_s = spec.network ? spec.network->latency_s : spec.link_latency_s;
  return {.address = setup.address,
          .token = setup.members_token,
          .tls = setup.tls,
          .timeout = OperationTimeout(spec),
          .barrier_timeout = DilatedClock::ToMachine(CommOptions().barrier_timeout),
          .largest_message_bytes = largest_message_bytes,
          .link_bytes_per_s = bytes_per_s,
          .link_round_trip_s = 2 * latency_s,
          .racks = spec.network ? spec.network->racks : 1};
}

std::unique_ptr<Server> MakeOwnServer(MemberProcess& process, const CommOptions& comm,
                                      const OptimizerOptions& optimizer, const Schedule& schedule,
                                      Timeline& timeline) {
  const MemberSetup& setup = process.setup();
  if (setup.who.index >= setup.world.colocated_servers) return nullptr;
  return MakeServer(
      EntryOf(setup.spec),
      {setup.world.dedicated_servers() + setup.who.index, setup.world.servers, setup.world.workers,
       process.client(), comm, optimizer, schedule, timeline, setup.spec.options});
}

}  // namespace ringside
