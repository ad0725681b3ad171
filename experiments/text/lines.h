#ifndef RINGSIDE_EXPERIMENTS_TEXT_LINES_H_
#define RINGSIDE_EXPERIMENTS_TEXT_LINES_H_

#include <string_view>

namespace ringside {

/// Calls `take(std::string_view)` for each line of `text`, without its newline. The last line needs
/// none.
template <typename Take>
void ForEachLine(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_LINES_H_
