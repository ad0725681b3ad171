#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_RUNS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_RUNS_H_

#include <optional>

#include "experiments/report/bundle_reader.h"
#include "experiments/report/study_run.h"

namespace ringside {

/// One run's numbers, from its summary and metrics. `environment` and `outlier` are left for the
/// caller, who sees the other runs. Pure.
StudyRun MakeStudyRun(const RunResult& result, const std::optional<double>& target_accuracy);

/// The number at a JSON pointer, absent where it is not one.
std::optional<double> NumberAt(const nlohmann::json& object, const char* pointer);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_RUNS_H_
