#ifndef RINGSIDE_RING_CORE_PLAN_AGREEMENT_H_
#define RINGSIDE_RING_CORE_PLAN_AGREEMENT_H_

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/strategy.h"
#include "ringside/ring/core/collective.h"

namespace ringside {

/// Collective: gathers all workers' summaries and calls `CheckPlanAgreement` with them.
void CheckAgreement(Collective& collective, const World& world, const BucketPlan& plan,
                    const StartPoint& from);

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_PLAN_AGREEMENT_H_
