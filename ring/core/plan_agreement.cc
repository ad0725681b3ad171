#include "ringside/ring/core/plan_agreement.h"

#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/ring/core/gather_values.h"

namespace ringside {

void CheckAgreement(Collective& collective, const World& world, const BucketPlan& plan,
                    const StartPoint& from) {
  CheckPlanAgreement(GatherValues(collective, SummaryOf(plan, from), world.workers, "the start"));
}

}  // namespace ringside
