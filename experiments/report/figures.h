#ifndef RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_

#include <string>
#include <vector>

namespace ringside {

/// `python3` of PATH, then the system's own, which has Debian's packages; each once.
std::vector<std::string> DefaultPythons();

/// Draws the figures of a report.json into `directory` by matplotlib: runs the embedded
/// scripts/report_figures.py under the first of `pythons` that has it. Returns the files' paths;
/// what else it says goes to stderr.
/// Throws `MissingBackendError` when none has, `Error` with its output when the script fails or
/// takes longer than ten minutes.
std::vector<std::string> WriteFigures(const std::string& report_json, const std::string& directory,
                                      const std::vector<std::string>& pythons = DefaultPythons());

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_FIGURES_H_
