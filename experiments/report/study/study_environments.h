#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_ENVIRONMENTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_ENVIRONMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// The index of a run's environment; adds it when it is new. Counts the run there.
std::size_t IndexOfEnvironment(const nlohmann::json& record,
                               std::vector<StudyEnvironment>& environments);

/// The keys whose values differ between environments, by name. Pure.
std::vector<std::string> EnvironmentDifferences(const std::vector<StudyEnvironment>& environments);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_STUDY_ENVIRONMENTS_H_
