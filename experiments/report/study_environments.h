#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_ENVIRONMENTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_ENVIRONMENTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/report/study_table.h"

namespace ringside {

/// The environment of a run among those known, which it joins when it is new. Counts the run.
std::size_t PlaceOfEnvironment(const nlohmann::json& record,
                               std::vector<StudyEnvironment>& environments);

/// Keys whose value is not the same in all of them, by name. Pure.
std::vector<std::string> EnvironmentDifferences(const std::vector<StudyEnvironment>& environments);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_ENVIRONMENTS_H_
