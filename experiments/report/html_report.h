#ifndef RINGSIDE_EXPERIMENTS_REPORT_HTML_REPORT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_HTML_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "experiments/report/study_table.h"

namespace ringside {

/// One self-contained HTML page: template, style, script, plotly.js and the study, which the script
/// draws. A Content-Security-Policy names the two scripts by their hashes and forbids every
/// network access, so that nothing in a name or a log can run or call out. Pure.
std::string RenderHtml(const StudyTable& table);

/// The study as the page needs it, from what `RenderJson` gives: curves as columns and thinned so
/// that all of them together have at most `kMaxPagePoints` points, numbers to nine digits, of a
/// configuration the model and the data alone.
nlohmann::json PageStudy(nlohmann::json report);
inline constexpr std::size_t kMaxPagePoints = 20'000;

/// JSON that may stand inside a script element: no `<`, `>`, `&` or line separator of Unicode can
/// end the element or begin a comment in it; bytes that are no UTF-8 are replaced.
std::string ScriptSafeJson(const nlohmann::json& value);
/// Text that may stand in an element or an attribute.
std::string EscapeHtml(std::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_HTML_REPORT_H_
