#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_

#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Compares the best parameter server with the best ring, by samples per second. It does so for
/// each workload and each number of workers above one for which the study has both: first over each
/// medium that both use, then across transports if the fastest two differ in it. When one of the
/// two is relaxed, there is a second finding among synchronous strategies. Cells whose runs the
/// machine all limited take no part. Pure.
///
/// The same runs choose the best and then judge it, which makes both sides look better.
std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells);

/// The study has a parameter server and a ring that could be compared, limited by the machine or
/// not. Pure.
bool HasBothFamilies(const std::vector<StudyCell>& cells);

/// The conclusion from the findings: from those over one medium and from the synchronous ones,
/// where there are any. Reads `cells`, `findings` and `environment_differences`. Pure.
StudyVerdict VerdictOf(const StudyTable& table);

/// How the figures were made, and warnings about these runs. Pure.
StudyMethod MethodOf(const StudyTable& table);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
