#ifndef RINGSIDE_EXPERIMENTS_WORKER_RUN_FACTORIES_H_
#define RINGSIDE_EXPERIMENTS_WORKER_RUN_FACTORIES_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/store.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/common/training/model.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/worker/member_process.h"

namespace ringside {

/// These functions make the objects that carry out a run's spec, the same in every process. They
/// throw `ConfigError` for a name that is in no table. `MakeModel` throws `MissingBackendError`
/// when this executable cannot make the model.

const StrategyEntry& EntryOf(const RunSpec& spec);
/// Throws `SpecKeyError` too, when the training split is smaller than the batch.
std::unique_ptr<Dataset> MakeDataset(const RunSpec& spec);
std::unique_ptr<Model> MakeModel(const RunSpec& spec, const Dataset& dataset, const World& world);
BucketPlan MakePlan(const RunSpec& spec, std::span<const TensorSpec> tensors);
/// Makes the flat space in memory of the kind that the strategy prefers.
FlatSpace MakeSpace(MemoryKind memory, const BucketPlan& plan, const MemberSetup& setup);
ScheduleOptions MakeSchedule(const RunSpec& spec, std::int64_t total_steps);
/// The steps of the whole run: `spec.steps`, or the steps of `spec.epochs`; `kMaxSteps` where only
/// a program knows them. Throws `ConfigError`
/// above `kMaxSteps`.
std::int64_t TotalSteps(const RunSpec& spec, std::size_t train_samples);
/// Checks that all workers of a job begin and end at the same steps, so that none waits for a step
/// that another never does. Every worker calls it. Throws `ConfigError` with both numbers when a
/// worker's steps differ: it has other data or another checkpoint.
void AgreeOnSteps(Store& store, std::int64_t first_step, std::int64_t total_steps);
/// Throws `ConfigError` when a server of the job would hold no bucket.
void RefuseIdleServers(const RunSpec& spec, const BucketPlan& plan);
/// Waits until a worker has published the run's total steps, which it does once its model and data
/// are loaded. Throws `CommError` naming the workers at the deadline.
std::int64_t WaitForTotalSteps(Store& store, int workers, const Deadline& deadline);
/// How long to wait until every process is ready. Loading libtorch may take longer than an
/// operation.
std::chrono::milliseconds StartTimeout(const RunSpec& spec);
/// The run's timeout, in the machine's time.
std::chrono::milliseconds OperationTimeout(const RunSpec& spec);
/// The most bytes of a message between a worker and a server: a bucket of this plan, encoded, or
/// the plan, which lists every slice.
int LargestMessageBytes(const BucketPlan& plan);
/// Tells the servers, which know no plan when they begin to listen. The first worker's value stays.
/// Throws `CommError`.
void PublishLargestMessage(Store& store, int bytes);
/// Waits for the value that a worker has published. Throws `CommError` at the deadline.
int WaitForLargestMessage(Store& store, const Deadline& deadline);
/// `largest_message_bytes` matters only between workers and servers.
CommOptions MakeCommOptions(const MemberSetup& setup,
                            int largest_message_bytes = CommOptions().largest_message_bytes);
/// Makes the parameter server inside this worker; returns null when the worker has none.
std::unique_ptr<Server> MakeOwnServer(MemberProcess& process, const CommOptions& comm,
                                      const OptimizerOptions& optimizer, const Schedule& schedule,
                                      Timeline& timeline);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_RUN_FACTORIES_H_
