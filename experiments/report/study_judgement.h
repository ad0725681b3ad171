#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_JUDGEMENT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_JUDGEMENT_H_

#include <vector>

#include "experiments/report/study_table.h"

namespace ringside {

/// The best parameter server against the best ring, by samples per second, wherever the study has
/// both: for each number of workers above one and each workload. Where the choice falls on a
/// relaxed strategy there is a second finding among synchronous ones. Pure.
///
/// The best of several is chosen by the same runs that then judge it, which flatters both sides.
std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells);

/// What the findings come to, by synchronous strategies where there are any. Reads `cells`,
/// `findings` and `environment_differences`. Pure.
StudyVerdict VerdictOf(const StudyTable& table);

/// How the figures were made, and what about these runs wants a second look. Pure.
StudyMethod MethodOf(const StudyTable& table);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_JUDGEMENT_H_
