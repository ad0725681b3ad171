#ifndef RINGSIDE_EXPERIMENTS_WORKER_RUN_PARTS_H_
#define RINGSIDE_EXPERIMENTS_WORKER_RUN_PARTS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "common/bucket_plan.h"
#include "common/data/dataset.h"
#include "common/flat_space.h"
#include "common/measure/timeline.h"
#include "common/model.h"
#include "common/optim/schedule.h"
#include "common/store.h"
#include "common/strategy_entry.h"
#include "experiments/job/member_setup.h"
#include "experiments/worker/member_process.h"
#include "models/model_table.h"

namespace ringside {

/// From a run's spec to the objects that carry it out, alike in every process. Functions that look
/// a name up throw `ConfigError` when it is in no table; `MakeModel` throws `MissingBackendError`
/// when this executable cannot make the model.

const StrategyEntry& EntryOf(const RunSpec& spec);
/// Throws `SpecKeyError` too: its training split is smaller than the batch.
std::unique_ptr<Dataset> MakeDataset(const RunSpec& spec);
std::unique_ptr<Model> MakeModel(const RunSpec& spec, const Dataset& dataset,
                                 std::span<const ModelEntry> models);
BucketPlan MakePlan(const RunSpec& spec, std::span<const TensorSpec> tensors);
/// In memory of the kind that a strategy prefers.
FlatSpace MakeSpace(MemoryKind memory, const BucketPlan& plan, const MemberSetup& setup);
ScheduleOptions MakeSchedule(const RunSpec& spec, std::int64_t total_steps);
/// Of the whole run: `spec.steps`, or as many as `spec.epochs` take. Throws `ConfigError` above
/// `kMaxSteps`.
std::int64_t TotalSteps(const RunSpec& spec, std::size_t train_samples);
/// Every worker of a job tells where it begins and how far it goes; those that begin together end
/// together, so that none waits for another's step that never comes. Throws `ConfigError` with both
/// numbers where another worker has told something else: its data or its checkpoint are others.
void AgreeOnSteps(Store& store, std::int64_t first_step, std::int64_t total_steps);
/// Throws `ConfigError` when a server of the job would hold no bucket.
void RefuseIdleServers(const RunSpec& spec, const BucketPlan& plan);
/// Waits until a worker has told how long the run is, which it does once its model and data are
/// loaded. Throws `CommError` naming the workers when none has by then.
std::int64_t WaitForTotalSteps(Store& store, int workers, const Deadline& deadline);
/// Until every process is ready to train: loading libtorch alone may take longer than an operation.
std::chrono::milliseconds StartTimeout(const RunSpec& spec);
std::chrono::milliseconds OperationTimeout(const RunSpec& spec);
CommOptions MakeCommOptions(const MemberSetup& setup);
/// The parameter server that this worker carries; null where it carries none.
std::unique_ptr<Server> MakeOwnServer(MemberProcess& process, const CommOptions& comm,
                                      const Schedule& schedule, Timeline& timeline);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_RUN_PARTS_H_
