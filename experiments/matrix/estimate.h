#ifndef RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_

#include <string>
#include <vector>

#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/matrix/matrix_plan.h"

namespace ringside {

/// The expected time of some runs, with its sources.
struct Estimate {
  double seconds = 0;
  int timed = 0;       ///< Runs estimated from earlier times of the same or similar runs.
  int calculated = 0;  ///< Runs estimated from steps, emulated compute time and link bound.
  int unknown = 0;     ///< Runs that really compute. Only their start and end is counted.

  /// A text for people: "3 min (12 as timed in earlier runs, 20 as steps x ...)".
  std::string Text() const;
};

/// Seconds to start and end a run when none was timed yet: process start, join, exchange, bundle.
/// `benchmarks/matrix_overhead.py` measures this; the value here is a round number above it.
inline constexpr double kNominalOverheadSeconds = 1.5;

/// Estimates each run by the median time in the journal: of its own repetitions, else of runs with
/// the same strategy and number of workers, else of all. With an empty journal: the overhead plus
/// the steps times the longer of `compute-ms` and the communication bound on the declared link,
/// dilated as on this machine.
Estimate EstimateTime(const std::vector<PlannedRun>& runs, const std::vector<JournalLine>& journal);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_
