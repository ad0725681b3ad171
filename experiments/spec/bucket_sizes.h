#ifndef RINGSIDE_EXPERIMENTS_SPEC_BUCKET_SIZES_H_
#define RINGSIDE_EXPERIMENTS_SPEC_BUCKET_SIZES_H_

#include "ringside/common/core/bucket_plan.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// How the buckets of a resolved run are cut: `bucket-mb`, or smaller between emulated hosts if the
/// strategy wants that (`StrategyEntry::largest_bucket`). Pure.
BucketPlanOptions BucketSizesOf(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_BUCKET_SIZES_H_
