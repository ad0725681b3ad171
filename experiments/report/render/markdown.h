#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_H_

#include <string>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// A page in GitHub's Markdown: verdict, findings, numbers, pictures, problems and method.
/// `pictures` are links, relative to the directory of the page. Pure.
std::string RenderMarkdown(const StudyTable& table, const std::vector<std::string>& pictures = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_H_
