#ifndef RINGSIDE_EXPERIMENTS_JOB_STEP_ORDER_H_
#define RINGSIDE_EXPERIMENTS_JOB_STEP_ORDER_H_

#include <optional>

#include "experiments/job/step_bound.h"
#include "experiments/run_spec.h"

namespace ringside {

/// What a run tells of its buckets. Times in milliseconds.
struct OrderInput {
  double compute_ms = 0;                       ///< As the bound counts it.
  double forward_ms = 0;                       ///< Its forward pass; 0: unknown.
  double gradient_bytes = 0;                   ///< Of one worker's step, as they travel.
  double parameter_bytes = 0;                  ///< On their way back.
  double last_bucket = 0;                      ///< Its share of them: that of the first layers.
  std::optional<double> busiest_link_bytes{};  ///< `BusiestLinkBytes`, with servers.
};

/// The least time of a step whose buckets travel whole and each server's in their order, over ideal
/// links. The bound takes any two parts of a step to overlap; some of them cannot.
struct StepOrder {
  double step_ms = 0;  ///< At least the bound.
  /// Compute that has nothing to overlap with: under `fifo` the forward pass, since the bucket that
  /// it reads first is the one sent last; without overlap all of it. 0 where the compute of one
  /// asynchronous worker overlaps with what others send.
  double compute_ms = 0;
  /// Whole buckets cannot give each server an equal part.
  double uneven_ms = 0;
  /// Servers answer a bucket when all workers have pushed it, so the last bucket's answers follow
  /// the last push; where compute is the longer, also that bucket's own way there. Servers inside
  /// workers have other answers to send meanwhile, so there it counts only behind compute.
  double last_bucket_ms = 0;
};

/// Nothing without a bound of time, and for strategies that do not communicate in every step. With
/// uneven rates or racks nothing is said of servers' links. Strategies whose servers do not wait
/// for all workers have the busiest link's time, or what a worker needs that is alone, whichever is
/// the longer. Pure.
std::optional<StepOrder> OrderOf(const RunSpec& spec, const StepBound& bound,
                                 const OrderInput& input);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_STEP_ORDER_H_
