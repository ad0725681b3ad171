#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_RENDER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// The schema of RenderCsv, RenderRunsCsv and RenderJson.
inline constexpr char kReportSchema[] = "ringside.report/2";

/// Renderers of a study. Each is a pure function of the table. A new form of report is a new
/// function beside these.

/// Aligned tables for people: cells, the meaning of the columns, failed runs, unreadable bundles.
std::string RenderText(const StudyTable& table);
/// CSV (RFC 4180) with a header line, one line per cell and `schema` as the first column. Absent
/// values are empty. An apostrophe leads a text that a spreadsheet would take for a formula.
/// `step_ms_low` and `step_ms_high` are the ends of an interval.
std::string RenderCsv(const StudyTable& table);
/// The raw data as the same CSV, with one line per run, failed runs included.
std::string RenderRunsCsv(const StudyTable& table);
/// JSON with `schema` and every field of the table under its own name; docs/report.md lists
/// them. Absent values are null.
nlohmann::json RenderJson(const StudyTable& table);
/// {paired, runs, ratio, interval: {low, high}, p_greater}.
nlohmann::json JsonOf(const Comparison& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_RENDER_H_
