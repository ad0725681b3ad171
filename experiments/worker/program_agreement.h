#ifndef RINGSIDE_EXPERIMENTS_WORKER_PROGRAM_AGREEMENT_H_
#define RINGSIDE_EXPERIMENTS_WORKER_PROGRAM_AGREEMENT_H_

#include <span>

#include "ringside/common/base/deadline.h"
#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/store.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/training/model.h"

namespace ringside {

/// Checks that the programs of all workers have the same tensors. Every worker calls it. Throws
/// `ConfigError` that names the first tensor that differs and the two workers. `rank`: this one.
void AgreeOnTensors(Store& store, int rank, std::span<const TensorSpec> tensors);

/// The optimizer of all workers' programs, for servers.
struct AgreedUpdate {
  OptimizerOptions optimizer;
  double learning_rate = 0;  ///< At the start.
};

/// Publishes the update of this worker's program. Every worker calls it. Throws `ConfigError` with
/// what differs when another worker's program has another one.
void AgreeOnUpdate(Store& store, int rank, const ModelUpdate& update);

/// Waits until a worker has published it. Throws `CommError` at the deadline.
AgreedUpdate WaitForUpdate(Store& store, const Deadline& deadline);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_PROGRAM_AGREEMENT_H_
