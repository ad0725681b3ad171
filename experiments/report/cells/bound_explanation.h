#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_BOUND_EXPLANATION_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_BOUND_EXPLANATION_H_

#include <string>

#include "ringside/experiments/report/cells/study_cell.h"

namespace ringside {

/// A cell needs an explanation when step time / bound is above the first value or below the second.
inline constexpr double kAboveBound = 1.15;
inline constexpr double kBelowBound = 1.00;
/// And when step time / achievable step is above this one.
inline constexpr double kAboveAchievable = 1.05;
/// If the cores are busy for at least this part of the training time, they limit the run. It is
/// below 1, because the load comes in bursts and cores are never busy all the time.
inline constexpr double kCoresBusy = 0.75;
/// The largest cost of the start-up of one more message that still counts as an explanation.
inline constexpr double kMessageMs = 0.15;

/// Why a cell's step time differs from its bound.
struct BoundExplanation {
  std::string text;       ///< Empty when no explanation is needed.
  bool explained = true;  ///< False: the runs' records do not explain it, and `text` says so.
};

/// Explains a cell whose `bound_ratio` is outside 1.00 to 1.15, or whose `achievable_ratio` is
/// above 1.05, using only what its runs recorded. For a cell without a bound it says why there is
/// none. If the machine limited all runs of the cell, that comes first, and it explains any time
/// above the bound. Above the bound, the parts of the achievable step come first. What is left
/// between the two steps has causes with known milliseconds: a slow link, injected stragglers,
/// waiting for the last worker, codecs, loading, queues, longer compute. Each explains at most what
/// the causes before it have left. For the rest it may name the ratio's interval, busy cores,
/// full queues, or the start-up of messages, which the bound leaves out. A rest of more than 5 % of
/// the achievable step, or of 15 % of the bound where there is no achievable one, counts as not
/// explained. Pure.
BoundExplanation ExplainBound(const StudyCell& cell);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_BOUND_EXPLANATION_H_
