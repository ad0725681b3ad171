#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_CLAIMS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_CLAIMS_H_

#include <string>
#include <vector>

#include "experiments/report/study_cell.h"

namespace ringside {

enum class Outcome {
  kShown,      ///< The interval lies where the claim says.
  kRefuted,    ///< It lies elsewhere.
  kUndecided,  ///< It holds both, or there is none: fewer than five runs.
};

/// "shown", "refuted", "undecided".
const char* OutcomeName(Outcome outcome);

/// What is commonly said of servers, rings and asynchrony, held against the study's own runs.
struct Claim {
  std::string claim;  ///< "co-located servers are as fast as the ring".
  std::string place;  ///< "4 workers, network=1Gbps": whose cells it was held against.
  Outcome outcome = Outcome::kUndecided;
  std::string numbers;  ///< What the outcome stands on.
};

/// How far apart "as fast as" and "about" may be.
inline constexpr double kClaimMargin = 0.10;
/// R^2 from which on a line says that something grows linearly.
inline constexpr double kLinearR2 = 0.95;
/// And how many times as much a worker more may add at the line's end as at its beginning.
inline constexpr double kBend = 1.5;

/// One for each place where the study has the cells that a claim is about:
///  - a single server's step time grows linearly with the workers, a ring's levels off (three
///    numbers of workers or more, for the ring from two on);
///  - S > N^2/(2(N-1)) dedicated servers are faster than the ring, and as many co-located ones as
///    workers equal to it (ratio of samples per second, with its interval);
///  - the mean staleness of asynchronous updates is about N - 1;
///  - under stragglers a relaxed strategy is faster than its synchronous sibling, and less
///  accurate.
/// Pure.
std::vector<Claim> ClaimsOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_CLAIMS_H_
