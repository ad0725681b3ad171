#ifndef RINGSIDE_COMMON_STRATEGY_PLAN_AGREEMENT_H_
#define RINGSIDE_COMMON_STRATEGY_PLAN_AGREEMENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/strategy/strategy.h"

namespace ringside {

/// What must be equal in all workers before the first step. Every family gathers these summaries
/// over its own transport, as bytes or as text, and calls `CheckPlanAgreement`. A plain value.
struct PlanSummary {
  std::uint64_t fingerprint = 0;  ///< `BucketPlan::Fingerprint`.
  std::uint64_t elements = 0;
  std::int64_t buckets = 0;
  std::int64_t first_step = 0;

  bool operator==(const PlanSummary&) const = default;
  std::string ToText() const;
};

PlanSummary SummaryOf(const BucketPlan& plan, const StartPoint& from);
/// Parses a text of `ToText`. Throws `CommError` that names `rank`, the worker that sent it.
PlanSummary PlanSummaryFromText(std::string_view text, int rank);

/// Throws `CommError` unless all workers have worker 0's summary. The error names every worker that
/// differs, and says how the first of them differs.
void CheckPlanAgreement(std::span<const PlanSummary> by_rank);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_PLAN_AGREEMENT_H_
