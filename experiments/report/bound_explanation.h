#ifndef RINGSIDE_EXPERIMENTS_REPORT_BOUND_EXPLANATION_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BOUND_EXPLANATION_H_

#include <string>

#include "experiments/report/study_cell.h"

namespace ringside {

/// Step time over bound beyond which a cell wants an explanation.
inline constexpr double kAboveBound = 1.15;
inline constexpr double kBelowBound = 1.00;
/// Cores at least so busy while a run trained limit what runs on them: steps come in bursts, so
/// that a mean of all of the time is out of reach.
inline constexpr double kCoresBusy = 0.75;
/// What one more message may cost for its start-up to be an explanation.
inline constexpr double kMessageMs = 0.15;

/// Why a cell is not where its bound says.
struct BoundExplanation {
  std::string text;       ///< Empty where nothing wants one.
  bool explained = true;  ///< False: the record does not account for it, and `text` says so.
};

/// Of a cell whose `bound_ratio` lies outside 1.00 to 1.15, by nothing but what its runs recorded;
/// of one without a bound, why there is none. Above: what has milliseconds (a slow link, workers
/// slowed on purpose, waiting for the last worker, communication that was not hidden, codecs,
/// loading, queues) explains as many; what is left may be the interval of the ratio, busy cores or
/// the start-up of messages, which the bound leaves out. Pure.
BoundExplanation ExplainBound(const StudyCell& cell);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BOUND_EXPLANATION_H_
