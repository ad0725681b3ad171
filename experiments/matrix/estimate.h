#ifndef RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_

#include <string>
#include <vector>

#include "experiments/matrix/journal.h"
#include "experiments/matrix/matrix_plan.h"

namespace ringside {

/// How long runs may take, and what says so.
struct Estimate {
  double seconds = 0;
  int timed = 0;       ///< Runs as their repetitions, or their like, took before.
  int calculated = 0;  ///< Runs by steps, the emulated compute time and the bound of the links.
  int unknown = 0;     ///< Runs that really compute: counted with starting and ending alone.

  /// "about 3 min: 12 runs as timed before, 20 calculated ...", for people.
  std::string Text() const;
};

/// What starting and ending a run costs where none was timed yet: process start, join, exchange,
/// bundle. `benchmarks/matrix_overhead.py` measures it; this is a round figure above it.
inline constexpr double kNominalOverheadSeconds = 1.5;

/// A run takes what its own repetitions took in the journal (their median), else runs of the same
/// strategy and number of workers, else any; with an empty journal the steps times the longer of
/// `compute-ms` and the communication's bound on the declared link, and the overhead.
Estimate EstimateTime(const std::vector<PlannedRun>& runs, const std::vector<JournalLine>& journal);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_ESTIMATE_H_
