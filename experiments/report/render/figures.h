#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_FIGURES_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_FIGURES_H_

#include <string>
#include <vector>

namespace ringside {

/// `python3` of PATH, then the system's Python, which has Debian's packages; each of them once.
std::vector<std::string> DefaultPythons();

/// Draws the figures of a report.json into `directory`. Runs the embedded scripts/report_figures.py
/// with the first of `pythons` that has matplotlib. Returns the files' paths; the script's other
/// output goes to stderr.
/// Throws `MissingBackendError` when no Python has matplotlib, and `Error` with the script's output
/// when it fails or takes longer than ten minutes.
std::vector<std::string> WriteFigures(const std::string& report_json, const std::string& directory,
                                      const std::vector<std::string>& pythons = DefaultPythons());

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_FIGURES_H_
