#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Compares the best parameter server with the best ring, by samples per second. It does so for
/// each workload and each number of workers above one for which the study has both. Over each
/// medium that both use, there is a finding about servers on the workers' hosts and one about
/// servers with hosts of their own. One across transports follows if the fastest two differ in
/// them. When one of the two is relaxed, there is a second finding among synchronous strategies.
/// Cells whose runs the machine all limited take no part. Pure.
///
/// The same runs choose the best and then judge it, which makes both sides look better.
std::vector<Finding> FindingsOf(const std::vector<StudyCell>& cells);

/// The study has a parameter server and a ring that could be compared, limited by the machine or
/// not. Pure.
bool HasBothFamilies(const std::vector<StudyCell>& cells);

/// The conclusion from the findings: from those over one medium and from the synchronous ones,
/// where there are any. Servers on the workers' hosts and servers with hosts of their own are
/// judged apart. Winner and certainty are those of the former, where there are any. Reads `cells`,
/// `findings` and `environment_differences`. Pure.
StudyVerdict VerdictOf(const StudyTable& table);

/// The findings that the verdict rests on, in their order: one for each scenario, medium and kind
/// of hosts. A finding across transports is among them only where its scenario has no other. Pure.
std::vector<const Finding*> JudgedFindings(const std::vector<Finding>& findings);

/// What a reader of the verdict must know besides, one sentence each. Pure.
std::vector<std::string> CaveatsOf(const StudyTable& table,
                                   const std::vector<const Finding*>& judged);

/// How the figures were made, and warnings about these runs. Pure.
StudyMethod MethodOf(const StudyTable& table);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_JUDGEMENT_H_
