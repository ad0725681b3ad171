#ifndef RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_
#define RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_

#include <cstdint>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/strategy.h"

namespace ringside {

/// Does one step: submits every bucket, then awaits every bucket.
void PushAndPull(Strategy& strategy, const FlatSpace& space, const BucketPlan& plan,
                 std::int64_t step);

/// Does a step on known integers, which differ with `round`, and counts the elements that are wrong
/// on this worker. The strategy is synchronous and its servers run plain gradient descent at
/// rate 1. Elements are counted after the step's own pulls, and again after settling. Settling
/// pulls again and would hide a wrong pull.
std::int64_t CountStepMismatches(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                                 const World& world, std::int64_t step, int round);

/// The same for servers that apply every push by itself. Counts only after settling, because the
/// result of the step's own pulls depends on which worker came first.
std::int64_t CountSettledMismatches(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                                    const World& world, std::int64_t step, int round);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_
