#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_HELD_OUT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_HELD_OUT_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Whether a table for people has the loss on held-out data: where no cell has an accuracy, which
/// says more.
bool ShowsTestLoss(const StudyTable& table);

/// The names of what else was measured on held-out data in some cell, sorted.
std::vector<std::string> MetricNames(const StudyTable& table);

/// The cell's value, or `missing`.
std::string MetricText(const StudyCell& cell, const std::string& name, const char* missing);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_HELD_OUT_H_
