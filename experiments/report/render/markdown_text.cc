#include "ringside/experiments/report/render/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace ringside {
namespace {

bool IsWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether the character could be markup. An underscore inside a word is text for CommonMark.
bool IsMarkup(std::string_view text, std::size_t at) {
  if (std::string_view("\\`*_[]|~#!").find(text[at]) == std::string_view::npos) return false;
  const bool inside = at > 0 && at + 1 < text.size() && IsWordCharacter(text[at - 1]) &&
                      IsWordCharacter(text[at + 1]);
  return text[at] != '_' || !inside;
}

}  // namespace

std::string EscapeMarkdown(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += ' ';
    } else {
      if (IsMarkup(text, i)) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string MarkdownRow(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string PictureText(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  std::string text(path.substr(0, std::min(path.rfind("-double."), path.size())));
  std::ranges::replace(text, '-', ' ');
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text;
}

}  // namespace ringside
