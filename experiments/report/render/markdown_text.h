#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_TEXT_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// Text on one line, escaped so that nothing in it acts as Markdown or HTML.
std::string EscapeMarkdown(std::string_view text);

/// A row of a table, from cells that are Markdown.
std::string MarkdownRow(const std::vector<std::string>& cells);

/// What a figure shows, from the name of its file, for readers who cannot see it: "Step time" for
/// "figures/step-time-double.svg".
std::string PictureText(std::string_view path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_MARKDOWN_TEXT_H_
