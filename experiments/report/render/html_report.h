#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_HTML_REPORT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_HTML_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// One self-contained HTML page: template, style, script, plotly.js and the study, which the script
/// draws. A Content-Security-Policy names the two scripts by their hashes and forbids all network
/// access, so nothing in a name or a log can run or send data. Pure.
std::string RenderHtml(const StudyTable& table);

/// The study as the page needs it, made from the result of `RenderJson`. Curves are columns,
/// thinned to at most `kMaxPagePoints` points in all. Numbers have nine digits. A configuration
/// keeps its model and data only.
nlohmann::json PageStudy(nlohmann::json report);
inline constexpr std::size_t kMaxPagePoints = 20'000;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_HTML_REPORT_H_
