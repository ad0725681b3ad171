#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TARGET_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TARGET_H_

#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Chooses the accuracy for "time to target": the one in `options`, or else 95 % of the best final
/// accuracy (median over runs) of a synchronous configuration. If none is synchronous, it takes the
/// best of all. `groups` are the runs of each configuration. Pure.
StudyTarget ChooseTarget(const std::vector<std::vector<const RunResult*>>& groups,
                         const StudyOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_TARGET_H_
