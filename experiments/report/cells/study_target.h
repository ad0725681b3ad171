#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_TARGET_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_TARGET_H_

#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/runs/bundle_reader.h"

namespace ringside {

/// The accuracy that "time to target" means.
struct StudyTarget {
  std::optional<double> accuracy;  ///< Absent: no run was evaluated.
  std::string origin;              ///< How it was chosen, as text for people.
};

struct StudyOptions {
  std::optional<double> target_accuracy;  ///< 0..1; absent: chosen from the runs.
};

/// Chooses the accuracy for "time to target": the one in `options`, or else 95 % of the best final
/// accuracy (median over runs) of a synchronous configuration. If none is synchronous, it takes the
/// best of all. `groups` are the runs of each configuration. Pure.
StudyTarget ChooseTarget(const std::vector<std::vector<const RunResult*>>& groups,
                         const StudyOptions& options);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_TARGET_H_
