#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_BOUND_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_BOUND_H_

#include <optional>
#include <string>

#include "ringside/common/measure/bound.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The least communication that theory allows for one step of a run.
struct StepBound {
  Cost cost;                      ///< Bytes; `seconds` ignores uneven rates and racks.
  std::optional<double> comm_ms;  ///< On the run's links; absent without a link.
  /// The same if every phase of a sum (`SumTraffic`) waits for the one before it, over all links.
  /// At least `comm_ms`; longer where unequal links are busy in different phases.
  double phases_ms = 0;
  /// Every worker and every dedicated server has a link of its own, all have one rate, and no
  /// uplink is shared.
  bool own_links = true;
  std::string missing;  ///< The reason why a run with links has no `comm_ms`.
};

/// The bound for encoded bytes. In a step, a worker pushes `gradient_bytes` and gets
/// `parameter_bytes` back. `hosts` is the number of hosts with workers. Absent when the strategy is
/// unknown or has no bound.
///
/// The time is that of the strategy's formula, and at least that of the busiest link. A host's link
/// counts at its own rate and with the bytes of all its processes. A rack's uplink counts with the
/// bytes between its hosts and those of other racks. Without own links for all, the formula's
/// latency counts and not its bytes.
/// With a codec whose gradients are gathered, a worker receives from all others, whatever the
/// strategy does with sums. Pure.
std::optional<StepBound> BoundOf(const RunSpec& spec, int hosts, double gradient_bytes,
                                 double parameter_bytes);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_STEP_BOUND_H_
