#include "ringside/experiments/worker/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/data/sampler.h"
#include "ringside/common/strategy/device_strategy.h"
#include "ringside/common/training/straggling_model.h"
#include "ringside/common/training/trainer.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/job/fidelity/time_window.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/spec/resolve/idle_servers.h"
#include "ringside/experiments/system/files/sha256.h"
#include "ringside/experiments/worker/checkpoints.h"
#include "ringside/experiments/worker/member_process.h"
#include "ringside/experiments/worker/program_agreement.h"
#include "ringside/experiments/worker/replica_check.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/server_report.h"
#include "ringside/experiments/worker/worker_observer.h"

namespace ringside {
namespace {

// For a longer run the memory of the records is not reserved in advance; it grows.
constexpr std::int64_t kMaxReservedSteps = 1 << 16;

/// Of the machine, not of an emulated host.
std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  // A name that is cut off, or none, only makes machines look alike.
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// One worker, from making its dataset to sending its report. Everything that training borrows is a
/// member, in the order of construction.
class WorkerRun {
 public:
  explicit WorkerRun(MemberProcess& process)
      : process_(process),
        setup_(process.setup()),
        spec_(setup_.spec),
        entry_(EntryOf(spec_)),
        dataset_(MakeDataset(spec_)),
        real_model_(MakeModel(spec_, *dataset_, setup_.world)),
        model_(WithInjectedStraggler(real_model_.get())),
        total_steps_(TotalSteps(spec_, dataset_->size(Split::kTrain))),
        plan_(MakePlan(spec_, model_->Tensors())),
        update_(real_model_->Update()),
        space_(MakeSpace(entry_.traits.memory, plan_, setup_)),
        optimizer_options_(OptimizerOfRun()),
        optimizer_(Optimizer::Make(optimizer_options_, plan_.elements())),
        schedule_(ScheduleOfRun()),
        recorder_(static_cast<std::size_t>(std::min(total_steps_, kMaxReservedSteps))),
        comm_(MakeComm()),
        checkpoints_({.setup = setup_,
                      .store = process_.client(),
                      .model = *model_,
                      .space = space_,
                      .optimizer_state_size = optimizer_->state_size(),
                      .recorder = recorder_,
                      .total_steps = total_steps_,
                      .steps_per_epoch = StepsPerEpoch(),
                      .samples = static_cast<std::int64_t>(dataset_->size(Split::kTrain))}) {}

  MemberResult Run() {
    try {
      MemberResult result = TrainAndReport();
      model_->LetGoOfSpace();
      model_->KeepMemory(std::move(space_));
      return result;
    } catch (...) {
      model_->LetGoOfSpace();  // the space goes before the model
      throw;
    }
  }

 private:
  MemberResult TrainAndReport() {
    process_.Tell([board = recorder_.shared_activity()] { return board->Get(); });
    if (update_) AgreeOnProgram(*update_);
    RefuseIdleServers();
    model_->Bind(space_, plan_);
    NoteSharedGpus();
    TakeDeviceOptimizer();
    checkpoints_.Resume();
    start_ = checkpoints_.start();
    PublishLargestMessage(process_.client(), comm_.largest_message_bytes);
    AgreeOnSteps(process_.client(), start_.step, total_steps_);
    server_ = MakeOwnServer(process_, comm_, optimizer_options_, schedule_, process_.timeline());
    const auto strategy = MakeStrategy(entry_, Context());
    const auto for_device = WithDevice(*strategy);
    Strategy& outer = for_device ? *for_device : *strategy;
    WorkerObserver observer(ObserverParts(outer));
    result_ = Train({setup_.world, *model_, outer, space_, plan_, *dataset_, process_.client(),
                     recorder_, process_.timeline(), observer},
                    Options());
    const nlohmann::json server = StopServer();
    SaveParams();
    return {Report(observer, server).dump()};
  }

  /// Collective, for a model on a GPU.
  void NoteSharedGpus() {
    const std::string id = model_->device_id();
    if (id.empty()) return;
    std::vector<std::string> gpus =
        StoreAllGather(process_.client(), setup_.world, "gpus", HostName() + " " + id,
                       Deadline::After(StartTimeout(spec_)));
    std::ranges::sort(gpus);
    if (std::ranges::adjacent_find(gpus) == gpus.end()) return;
    recorder_.AddNote(
        "emulated: workers share a GPU and take turns on it; a cluster has one for each");
  }

  DeviceUse UseOfDevice() const {
    return entry_.device_use ? entry_.device_use(spec_.options) : DeviceUse::kNone;
  }

  /// Where the strategy leaves the updates to this worker, and the model is on a GPU.
  void TakeDeviceOptimizer() {
    DeviceVectors* vectors = model_->device_vectors();
    if (vectors == nullptr || UseOfDevice() == DeviceUse::kNone) return;
    optimizer_ = vectors->MakeOptimizer(optimizer_options_);
  }

  /// Null where the model is in host memory, as the strategy is.
  std::unique_ptr<Strategy> WithDevice(Strategy& strategy) {
    DeviceVectors* vectors = model_->device_vectors();
    if (vectors == nullptr) return nullptr;
    return std::make_unique<DeviceStrategy>(strategy, *vectors, UseOfDevice(), setup_.world.rank);
  }

  /// A program's gradients are checked where they are copied, those on a GPU there.
  bool ChecksGradients() const {
    if (EmulatedComputeOf(*real_model_) != nullptr || update_) return false;
    return model_->device_vectors() == nullptr || UseOfDevice() != DeviceUse::kBuckets;
  }

  OptimizerOptions OptimizerOfRun() const {
    if (!update_) return spec_.optimizer;
    OptimizerOptions options = update_->optimizer;
    // A program's gradient is that of the mean loss over its own batch.
    if (entry_.traits.averaging() == Averaging::kGlobalBatch) {
      options.gradient_scale /= spec_.workers;
    }
    return options;
  }

  ScheduleOptions ScheduleOfRun() const {
    ScheduleOptions options = MakeSchedule(spec_, total_steps_);
    if (update_) options.given = update_->rates;
    return options;
  }

  void AgreeOnProgram(ModelUpdate update) {
    AgreeOnTensors(process_.client(), setup_.world.rank, model_->Tensors());
    update.optimizer = optimizer_options_;
    AgreeOnUpdate(process_.client(), setup_.world.rank, update);
  }

  /// Of models whose tensors nobody knew before.
  void RefuseIdleServers() {
    if (spec_.servers == 0) return;
    const int idle = IdleServers(spec_, model_->Tensors());
    if (idle == 0) return;
    throw ConfigError(
        fmt::format("{} servers for a model of {} parameters would leave {} idle; "
                    "take fewer servers or smaller buckets (--bucket-mb)",
                    spec_.servers, plan_.elements(), idle));
  }

  CommOptions MakeComm() {
    CommOptions comm = MakeCommOptions(setup_, LargestMessageBytes(plan_));
    comm.activity = &recorder_.activity();
    return comm;
  }

  // It wraps the model. So neither the training loop nor the model knows about it.
  Model* WithInjectedStraggler(Model* model) {
    if (spec_.straggler.kind == StragglerOptions::Kind::kNone) return model;
    const auto slowdown = [this](std::int64_t step) {
      return Slowdown(spec_.straggler, spec_.seed, step, setup_.who.index, spec_.workers);
    };
    slowed_model_ = std::make_unique<StragglingModel>(*model, EmulatedComputeOf(*real_model_),
                                                      slowdown, recorder_, slowdown_clock_);
    return slowed_model_.get();
  }

  StrategyContext Context() {
    StrategyOptions options = spec_.options;
    options.codec.seed = spec_.seed;
    return {.world = setup_.world,
            .store = process_.client(),
            .comm = comm_,
            .optimizer = *optimizer_,
            .schedule = schedule_,
            .recorder = recorder_,
            .timeline = process_.timeline(),
            .options = options,
            .caller_updates = update_ && update_->by_model};
  }

  std::int64_t StepsPerEpoch() const {
    return Sampler(dataset_->size(Split::kTrain),
                   static_cast<std::size_t>(spec_.ResolvedGlobalBatch()), spec_.seed)
        .steps_per_epoch();
  }

  /// The bytes of all buckets on the wire.
  std::size_t WireBytesOfAll(const CodecOptions& codec) const {
    std::size_t bytes = 0;
    for (int bucket = 0; bucket < plan_.buckets(); ++bucket) {
      bytes += WireBytes(codec, plan_.range(bucket).size());
    }
    return bytes;
  }

  TrainerOptions Options() const {
    return {.start = start_,
            .saved_state = checkpoints_.saved_state(),
            .end_step = total_steps_,
            .global_batch = static_cast<std::size_t>(spec_.ResolvedGlobalBatch()),
            .seed = spec_.seed,
            .averaging = entry_.traits.averaging(),
            .overlap = spec_.overlap,
            .shared_params = entry_.traits.family != Family::kNone,
            .check_gradients = ChecksGradients(),
            .check_replicas_every = spec_.check_replicas,
            .eval_every = spec_.eval_every,
            .checkpoint_every = spec_.checkpoint_every,
            .timeout = OperationTimeout(spec_),
            .barrier_timeout = comm_.barrier_timeout};
  }

  WorkerObserver::Parts ObserverParts(Strategy& strategy) {
    return {.world = setup_.world,
            .space = space_,
            .drain_barrier = process_.drain_barrier(),
            .buffer = process_.buffer(),
            .recorder = recorder_,
            .first_step = start_.step,
            .end_step = total_steps_,
            .warmup_steps = spec_.warmup_steps,
            .timeout = OperationTimeout(spec_),
            .coordinator = setup_.coordinator,
            .before_first_step =
                [this] {
                  if (!setup_.drops_lost_workers) return;
                  process_.client().Set(TrainsKey(setup_.who.index), "yes");
                },
            .wait_for_other_ends =
                [this] {
                  StoreGatherLiving(process_.client(), setup_.world, "program ended", "",
                                    Deadline::After(comm_.barrier_timeout));
                },
            .write_checkpoint =
                [this, &strategy](std::int64_t step) { checkpoints_.Save(strategy, step); },
            .compare_replicas =
                [this, exchanges = ExchangeSeries(process_.client(), setup_.world)](
                    std::int64_t steps_done) mutable {
                  CheckReplicas(space_.params(), steps_done, exchanges,
                                Deadline::After(comm_.barrier_timeout));
                }};
  }

  void SaveParams() {
    if (spec_.save_params && setup_.who.index == 0) {
      WriteParams(setup_.bundle_dir + "/params.bin", space_.params());
    }
  }

  /// Returns null when there is no server.
  nlohmann::json StopServer() {
    if (setup_.world.colocated_servers > 0) {
      // A server may stop only when no worker's strategy uses it any more.
      StoreAllGather(process_.client(), setup_.world, "training ended", "",
                     Deadline::After(comm_.barrier_timeout));
    }
    return server_ ? ServerReportJson(server_->Stop()) : nlohmann::json();
  }

  /// The busy fraction of the cores' time; null when nothing was counted.
  static nlohmann::json MachineBusy(const MachineTicks& ticks) {
    if (ticks.all == 0) return {};
    return static_cast<double>(ticks.busy) / static_cast<double>(ticks.all);
  }

  nlohmann::json BucketElements() const {
    nlohmann::json elements = nlohmann::json::array();
    for (int bucket = 0; bucket < plan_.buckets(); ++bucket) {
      elements.push_back(plan_.range(bucket).size());
    }
    return elements;
  }

  /// Returns null when the model does not say where its backward pass begins.
  nlohmann::json ReadyShares() const {
    if (result_.ready_shares.empty()) return {};
    return result_.ready_shares;
  }

  /// Returns 0 when the model really computes.
  double EmulatedComputeMs() const {
    const EmulatedCompute* emulated = EmulatedComputeOf(*real_model_);
    return emulated == nullptr ? 0 : emulated->step_ms();
  }

  nlohmann::json Report(const WorkerObserver& observer, const nlohmann::json& server) {
    nlohmann::json report{
        {"steps_done", result_.steps_done},
        {"first_step", start_.step},
        {"total_steps", EndsWithItsProgram(spec_) ? result_.steps_done : total_steps_},
        {"completed", result_.completed},
        {"train_seconds", result_.train_seconds},
        {"parameters", plan_.elements()},
        {"buckets", plan_.buckets()},
        {"bucket_elements", BucketElements()},
        {"ready_shares", ReadyShares()},
        {"gradient_wire_bytes", WireBytesOfAll(spec_.options.codec)},
        {"parameter_wire_bytes", WireBytesOfAll(ReplyCodec(spec_.options.codec))},
        {"emulated_compute_ms", EmulatedComputeMs()},
        {"cpu_seconds", CpuSeconds()},
        {"machine_busy", MachineBusy(observer.machine())},
        {kCountedWindowsKey, WindowsJson(observer.counted().Windows())},
        {"peak_rss_bytes", PeakRssBytes()},
        {"socket_bytes_sent", observer.bytes().sent},
        {"socket_bytes_received", observer.bytes().received},
        {"payload_bytes_sent", recorder_.bytes_sent()},
        {"payload_bytes_received", recorder_.bytes_received()},
        {"staleness", StalenessJson(recorder_.staleness())},
        {"notes", recorder_.notes()},
        {"facts", recorder_.facts()},
        {"dropped_pushes", recorder_.dropped_pushes()},
        {"reconnects", recorder_.reconnects()},
        {"server", server},
    };
    if (dataset_->size(Split::kTest) > 0) {
      report["epochs"] =
          static_cast<double>(result_.steps_done) / static_cast<double>(StepsPerEpoch());
    }
    if (setup_.who.index == 0) {
      const std::span<const float> params = space_.params();
      report["params_sha256"] = Sha256Hex(std::as_bytes(params));
    }
    return report;
  }

  MemberProcess& process_;
  const MemberSetup& setup_;
  const RunSpec& spec_;
  const StrategyEntry& entry_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Model> real_model_;
  SlowdownClock slowdown_clock_;
  std::unique_ptr<Model> slowed_model_;
  Model* model_;
  const std::int64_t total_steps_;
  const BucketPlan plan_;
  const std::optional<ModelUpdate> update_;  // of a program
  FlatSpace space_;
  const OptimizerOptions optimizer_options_;
  std::unique_ptr<Optimizer> optimizer_;
  const Schedule schedule_;
  Recorder recorder_;
  const CommOptions comm_;
  Checkpoints checkpoints_;
  StartPoint start_;
  std::unique_ptr<Server> server_;
  TrainerResult result_;
};

}  // namespace

int RunProgramWorker(const std::vector<std::string>& args, const Catalog& catalog,
                     const std::function<void(MemberProcess&)>& joined) {
  return MemberProcess::Run(args, catalog, [&joined](MemberProcess& process) {
    const MemberSetup& setup = process.setup();
    joined(process);
    FaultPoint({.point = fault_points::kWorkerStarts,
                .member = setup.who.index,
                .generation = setup.generation});
    RequireStrategy(process.setup().spec);
    RequireDevice(process.setup().spec);
    return WorkerRun(process).Run();
  });
}

int RunWorker(const std::vector<std::string>& args, const Catalog& catalog) {
  return RunProgramWorker(args, catalog, [](MemberProcess&) {});
}

}  // namespace ringside
