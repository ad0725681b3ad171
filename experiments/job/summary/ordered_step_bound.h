#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_

#include <optional>

#include "ringside/experiments/job/summary/step_bound.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A run's figures for the bound. Times in milliseconds; bytes are as encoded.
struct OrderedStepInput {
  double compute_ms = 0;                       ///< Compute as the bound counts it.
  double forward_ms = 0;                       ///< Forward pass, part of it; 0: unknown.
  double gradient_bytes = 0;                   ///< Pushed by one worker in a step.
  double parameter_bytes = 0;                  ///< Sent back to one worker.
  double last_bucket = 0;                      ///< Share of the bytes; the first layers.
  std::optional<double> busiest_link_bytes{};  ///< `BusiestLinkBytes`, with servers.
};

/// The least time of a step over ideal links when buckets travel whole, each server's in their
/// order. `StepBound` lets any two parts of a step overlap, but some of them cannot.
struct OrderedStepBound {
  double step_ms = 0;  ///< At least the bound.
  /// Compute that overlaps with nothing. Without overlap that is all of it. Under `fifo` it is the
  /// forward pass, because it first reads the bucket that is sent last. 0 when the compute of one
  /// asynchronous worker overlaps with what others send.
  double compute_ms = 0;
  /// Extra time because whole buckets cannot be shared equally by the servers.
  double uneven_ms = 0;
  /// Time for the last bucket. Servers answer a bucket when all workers have pushed it, so its
  /// answers follow the last push. When compute is longer than communication, the bucket's push
  /// counts too. Co-located servers send other answers meanwhile, so there only that case counts.
  double last_bucket_ms = 0;
};

/// Returns the bound; absent without a bound of time, and for strategies that do not communicate in
/// every step. With uneven rates or racks it ignores servers' links. A strategy whose servers do
/// not wait for all workers gets the larger of the busiest link's time and the time that one worker
/// needs alone. Pure.
std::optional<OrderedStepBound> OrderedStepBoundOf(const RunSpec& spec, const StepBound& bound,
                                                   const OrderedStepInput& input);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_
