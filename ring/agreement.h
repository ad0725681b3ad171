#ifndef RINGSIDE_RING_AGREEMENT_H_
#define RINGSIDE_RING_AGREEMENT_H_

#include "common/bucket_plan.h"
#include "common/strategy.h"
#include "common/world.h"
#include "ring/collective.h"

namespace ringside {

/// Collective. Throws `CommError` that names the first worker whose bucket plan or first step
/// differs from worker 0's.
void CheckAgreement(Collective& collective, const World& world, const BucketPlan& plan,
                    const StartPoint& from);

}  // namespace ringside

#endif  // RINGSIDE_RING_AGREEMENT_H_
