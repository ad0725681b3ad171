#include "ringside/ring/core/plan_agreement.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "ringside/common/strategy/plan_agreement.h"

namespace ringside {

void CheckAgreement(Collective& collective, const World& world, const BucketPlan& plan,
                    const StartPoint& from) {
  const PlanSummary mine = SummaryOf(plan, from);
  const auto gathered = collective.AllGather(std::as_bytes(std::span(&mine, 1)));
  std::vector<PlanSummary> by_rank(static_cast<std::size_t>(world.workers));
  std::memcpy(by_rank.data(), gathered.data(), gathered.size());
  CheckPlanAgreement(by_rank);
}

}  // namespace ringside
