#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/report/study_table.h"

namespace ringside {

/// Of RenderCsv, RenderRunsCsv and RenderJson.
inline constexpr char kReportSchema[] = "ringside.report/2";

/// Renderers of a study; each is a pure function of the table. Another form of report is another
/// function beside these.

/// Aligned tables for people: the cells, what the columns mean, failed runs, unreadable bundles.
std::string RenderText(const StudyTable& table);
/// One line per cell under a header line, first column `schema`; RFC 4180. Absent values are empty,
/// and text that a spreadsheet would take for a formula is led by an apostrophe. `step_ms_low` and
/// `step_ms_high` are the ends of an interval.
std::string RenderCsv(const StudyTable& table);
/// The same with one line per run, failed ones included: the raw data.
std::string RenderRunsCsv(const StudyTable& table);
/// Every field of the table under its own name, `schema` besides; docs/statistics.md lists them.
/// Absent values are null.
nlohmann::json RenderJson(const StudyTable& table);
/// {paired, runs, ratio, interval: {low, high}, p_greater}.
nlohmann::json JsonOf(const Comparison& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_
