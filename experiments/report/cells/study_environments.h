#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_ENVIRONMENTS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_ENVIRONMENTS_H_

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ringside {

/// A machine and build on which runs of the study ran.
struct StudyEnvironment {
  std::map<std::string, std::string> values;  ///< "cpu_model", "git", "libraries.gloo", ...
  int runs = 0;
};

/// The index of a run's environment; adds it when it is new. Counts the run there.
std::size_t IndexOfEnvironment(const nlohmann::json& record,
                               std::vector<StudyEnvironment>& environments);

/// The keys whose values differ between environments, by name. Pure.
std::vector<std::string> EnvironmentDifferences(const std::vector<StudyEnvironment>& environments);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_ENVIRONMENTS_H_
