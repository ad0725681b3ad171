#ifndef RINGSIDE_EXPERIMENTS_JOB_STEP_BOUND_H_
#define RINGSIDE_EXPERIMENTS_JOB_STEP_BOUND_H_

#include <optional>
#include <string>

#include "common/measure/bound.h"
#include "experiments/run_spec.h"

namespace ringside {

/// The least that theory allows the communication of one step of a run.
struct StepBound {
  Cost cost;                      ///< Bytes; `seconds` without regard to uneven rates and racks.
  std::optional<double> comm_ms;  ///< On the links that the run has; absent without a link.
  std::string missing;            ///< Why a run with links has no `comm_ms`.
};

/// Of the bytes that the codec leaves: `gradient_bytes` of one worker's step, `parameter_bytes` on
/// their way back. `hosts`: those that the workers were on. Nothing where the strategy is unknown
/// or has no bound.
///
/// The time is that of the busiest link: a host's own at its own rate, and a rack's uplink, where
/// the strategy's formula says what crosses it (rings: each edge between two racks; servers: what
/// workers exchange with servers of other racks). What a worker gathers it receives from everybody,
/// whatever its strategy does with the sums of other codecs. Pure.
std::optional<StepBound> BoundOf(const RunSpec& spec, int hosts, double gradient_bytes,
                                 double parameter_bytes);

/// Steps after which a strategy's cost comes again: one, or those between two sums.
std::int64_t PeriodOf(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_STEP_BOUND_H_
