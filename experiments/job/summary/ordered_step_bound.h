#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_

#include <optional>

#include "ringside/experiments/job/summary/step_bound.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A run's figures for the bound. Times in milliseconds; bytes are as encoded.
struct OrderedStepInput {
  double compute_ms = 0;                       ///< Compute as the bound counts it.
  double forward_ms = 0;                       ///< Forward pass, a part of it; 0: unknown.
  double gradient_bytes = 0;                   ///< Pushed by one worker in a step.
  double parameter_bytes = 0;                  ///< Sent back to one worker.
  double last_bucket = 0;                      ///< Its share of the bytes; it has the first layers.
  std::optional<double> busiest_link_bytes{};  ///< `BusiestLinkBytes`, with servers.
};

/// The least time of a step over ideal links when buckets are sent whole, each server's buckets in
/// their order. `StepBound` lets any two parts of a step overlap. Here some parts cannot.
struct OrderedStepBound {
  double step_ms = 0;  ///< At least the bound.
  /// Compute that overlaps with nothing. Without overlap that is all of it. Under `fifo` it is the
  /// forward pass, because the forward pass first reads the bucket that is sent last. It is 0 when
  /// the compute of one asynchronous worker overlaps with what others send.
  double compute_ms = 0;
  /// Extra time because whole buckets do not divide equally among the servers.
  double uneven_ms = 0;
  /// Time for the last bucket. Servers answer a bucket when all workers have pushed it, so its
  /// answers follow the last push. When compute is longer than communication, the push of this
  /// bucket counts too. Co-located servers can send other answers during that push, so for them
  /// only this case counts.
  double last_bucket_ms = 0;
};

/// Returns the bound. Absent without a bound of time, and for strategies that do not communicate in
/// every step. With uneven rates or racks it ignores the servers' links. For a strategy whose
/// servers do not wait for all workers, it is the larger of two times: that of the busiest link,
/// and that of one worker alone. Pure.
std::optional<OrderedStepBound> OrderedStepBoundOf(const RunSpec& spec, const StepBound& bound,
                                                   const OrderedStepInput& input);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ORDERED_STEP_BOUND_H_
