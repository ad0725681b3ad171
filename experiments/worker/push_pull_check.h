#ifndef RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_
#define RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_

#include <cstdint>

#include "common/bucket_plan.h"
#include "common/flat_space.h"
#include "common/strategy.h"
#include "common/world.h"

namespace ringside {

/// A step: every bucket submitted, then every bucket awaited.
void PushAndPull(Strategy& strategy, const FlatSpace& space, const BucketPlan& plan,
                 std::int64_t step);

/// A step on known integers, `round` making them differ between two, under a synchronous strategy
/// whose servers descend plainly at rate 1. Counts the elements that are wrong on this worker: in
/// what the step's own pulls brought, and again in what settling brings, which pulls anew and would
/// cover up for the step.
std::int64_t CountWrongOfStep(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                              const World& world, std::int64_t step, int round);

/// Likewise under servers that apply every push by itself: what a pull of the step brings depends
/// on who came first, what settling brings does not.
std::int64_t CountWrongOnceSettled(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                                   const World& world, std::int64_t step, int round);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_PUSH_PULL_CHECK_H_
