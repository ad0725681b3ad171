#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TIES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TIES_H_

#include <string>

#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// How far a comparison can be trusted.
enum class Certainty {
  kClear,              ///< The interval of the ratio does not contain 1.
  kEqual,              ///< The whole interval is within `kEqualMargin` of 1.
  kUnclear,            ///< Neither: the runs show no difference, and may have missed one.
  kPointEstimateOnly,  ///< Fewer than five pairs of runs: no interval.
};

/// Ratios that differ from 1 by less than this count as equal.
inline constexpr double kEqualMargin = 0.02;

/// "clear", "equal", "unclear", "points only".
const char* CertaintyName(Certainty certainty);

/// The certainty of a comparison, by where its interval lies.
Certainty CertaintyOf(const Comparison& comparison);

/// A difference that decides nothing.
enum class Tie {
  kNone,
  kSmall,      ///< The interval lies within `kEqualMargin`; without one, the ratio does.
  kUncertain,  ///< The interval contains 1; without one, not all runs agree on who is ahead.
};

/// Whether a comparison is a tie. Everything that compares runs asks this. Pure.
Tie TieOf(const Comparison& comparison);

inline bool IsTie(const Comparison& comparison) { return TieOf(comparison) != Tie::kNone; }

/// "tie within 2 %", "tie within their uncertainty"; empty for no tie.
std::string TieText(Tie tie);

/// The result of a comparison of A with B: a tie, or "faster" or "slower", with "no interval" where
/// there is none.
std::string ResultText(const Comparison& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TIES_H_
