#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_CLAIMS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_CLAIMS_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"

namespace ringside {

enum class Outcome {
  kShown,      ///< The whole interval agrees with the claim.
  kRefuted,    ///< The whole interval contradicts the claim.
  kUndecided,  ///< A part of it agrees, or there is none (fewer than five runs).
};

/// "shown", "refuted", "undecided".
const char* OutcomeName(Outcome outcome);

/// A common claim about servers, rings or asynchronous updates, tested with the study's own runs.
struct Claim {
  std::string claim;  ///< "co-located servers are as fast as the ring".
  std::string place;  ///< "4 workers at 1 Gbit/s": the scenario whose cells test it.
  Outcome outcome = Outcome::kUndecided;
  std::string numbers;  ///< The numbers behind the outcome.
};

/// The largest relative difference for "as fast as" and "about".
inline constexpr double kClaimMargin = 0.10;
/// The least R^2 of a line for linear growth.
inline constexpr double kLinearR2 = 0.95;
/// The most that one more worker may add at the end of the line, relative to the beginning.
inline constexpr double kBend = 1.5;

/// Tests each claim in every scenario for which the study has the cells:
///  - a single server's step time grows linearly with the workers, and a ring's levels off (needs
///    three numbers of workers or more; for the ring from two workers on);
///  - S > N^2/(2(N-1)) dedicated servers are faster than the ring, and co-located servers, one per
///    worker, are as fast as the ring (ratio of samples per second, with its interval);
///  - the mean staleness of asynchronous updates is about N - 1;
///  - under stragglers a relaxed strategy is faster than its synchronous counterpart, and less
///    accurate.
/// "Faster" is by more than `kEqualMargin`; two that tie refute it.
/// Cells whose runs the machine all limited test no claim. Claims with the same text stand
/// together. Pure.
std::vector<Claim> ClaimsOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_CLAIMS_H_
