#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_IDLE_SERVERS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_IDLE_SERVERS_H_

#include <span>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// How many of `spec.servers` would hold nothing of a model with these tensors, in backward order:
/// no bucket, or between emulated hosts no slice of one. A pure function. Uses little memory, also
/// for a large model.
int IdleServers(const RunSpec& spec, std::span<const TensorSpec> tensors);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_IDLE_SERVERS_H_
