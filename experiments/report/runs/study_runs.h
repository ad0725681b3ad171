#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUNS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUNS_H_

#include <optional>

#include "ringside/experiments/report/runs/bundle_reader.h"
#include "ringside/experiments/report/runs/study_run.h"

namespace ringside {

/// Makes one run's numbers from its summary and metrics. The caller sets `environment` and
/// `outlier`, which depend on the other runs. Pure.
StudyRun MakeStudyRun(const RunResult& result, const std::optional<double>& target_accuracy);

/// The number at a JSON pointer; absent when there is no number.
std::optional<double> NumberAt(const nlohmann::json& object, const char* pointer);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_STUDY_RUNS_H_
