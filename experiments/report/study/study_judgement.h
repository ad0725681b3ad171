#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_

#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Compares the best parameter server with the best ring, by samples per second, for each workload
/// and number of workers above one that the study has both for. When one of the two is relaxed,
/// there is a second finding among synchronous strategies. Pure.
///
/// The same runs choose the best and then judge it, which flatters both sides.
std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells);

/// The conclusion from the findings, from synchronous ones if there are any. Reads `cells`,
/// `findings` and `environment_differences`. Pure.
StudyVerdict VerdictOf(const StudyTable& table);

/// How the figures were made, and warnings about these runs. Pure.
StudyMethod MethodOf(const StudyTable& table);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
