#include "ringside/experiments/report/render/text_table.h"

#include <algorithm>
#include <cstddef>

namespace ringside {
namespace {

// Counts characters, not bytes: UTF-8 continuation bytes take no room.
std::size_t Width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

}  // namespace

std::string TextTable::Render() const {
  // Titles are aligned at the bottom: a title with fewer lines starts lower.
  std::vector<std::vector<std::string>> titles;
  std::size_t title_lines = 0;
  for (const Column& column : columns_) {
    titles.push_back(SplitLines(column.title));
    title_lines = std::max(title_lines, titles.back().size());
  }
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titles[c].insert(titles[c].begin(), title_lines - titles[c].size(), "");
    for (const std::string& line : titles[c]) widths[c] = std::max(widths[c], Width(line));
    for (const Row& row : rows_) widths[c] = std::max(widths[c], Width(row.cells[c]));
  }

  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string padding(widths[c] - Width(cell), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::kLeft ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (std::size_t i = 0; i < title_lines; ++i) {
    add_line([&](std::size_t c) -> const std::string& { return titles[c][i]; });
  }
  std::vector<std::string> rules;
  for (const std::size_t width : widths) rules.emplace_back(width, '-');
  add_line([&](std::size_t c) -> const std::string& { return rules[c]; });
  for (const Row& row : rows_) {
    add_line([&](std::size_t c) -> const std::string& { return row.cells[c]; });
    if (!row.note.empty()) out += row.note + '\n';
  }
  return out;
}

}  // namespace ringside
