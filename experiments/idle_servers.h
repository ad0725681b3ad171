#ifndef RINGSIDE_EXPERIMENTS_IDLE_SERVERS_H_
#define RINGSIDE_EXPERIMENTS_IDLE_SERVERS_H_

#include <span>

#include "common/bucket_plan.h"
#include "experiments/run_spec.h"

namespace ringside {

/// How many of `spec.servers` would hold no bucket of a model with these tensors, in backward
/// order. Pure; takes no memory to speak of, however large the model.
int IdleServers(const RunSpec& spec, std::span<const TensorSpec> tensors);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_IDLE_SERVERS_H_
