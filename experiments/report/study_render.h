#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/report/study_table.h"

namespace ringside {

/// Renderers of a study; each is a pure function of the table. Another form of report is another
/// function beside these.

/// Aligned tables for people: the cells, what the columns mean, failed runs, unreadable bundles.
std::string RenderText(const StudyTable& table);
/// One line per cell under a header line, first column `schema`; RFC 4180. Absent values are empty.
std::string RenderCsv(const StudyTable& table);
/// {schema, name, varied, cells: [...], failed: [...], problems: [...]}. Absent values are null.
nlohmann::json RenderJson(const StudyTable& table);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_RENDER_H_
