#ifndef RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_H_
#define RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_H_

#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/study_table.h"

namespace ringside {

/// A page for a repository, in GitHub's dialect: verdict, findings, the numbers, pictures,
/// problems, method. `pictures`: paths as links, relative to where the page will lie. Pure.
std::string RenderMarkdown(const StudyTable& table, const std::vector<std::string>& pictures = {});

/// Text that stays text: on one line, nothing in it is Markdown or HTML.
std::string EscapeMarkdown(std::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_MARKDOWN_H_
