#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_TARGET_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_TARGET_H_

#include <vector>

#include "experiments/report/study_table.h"

namespace ringside {

/// The accuracy that "time to target" means: what was asked for, otherwise 95 % of the best final
/// accuracy that a synchronous configuration has as the median over its runs; where none is
/// synchronous, of the best of all. `groups`: the runs of each configuration. Pure.
StudyTarget ChooseTarget(const std::vector<std::vector<const RunResult*>>& groups,
                         const StudyOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_TARGET_H_
