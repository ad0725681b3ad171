#ifndef RINGSIDE_EXPERIMENTS_TEXT_PRINTABLE_H_
#define RINGSIDE_EXPERIMENTS_TEXT_PRINTABLE_H_

// Private to the .cc files of experiments.

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace ringside {

/// The text with every control character written as "\x1b", so that a file name or a log line
/// cannot contain control sequences of a terminal. Newlines and tabs stay. UTF-8 stays, without its
/// control characters (U+0080 to U+009F).
std::string Printable(std::string_view text);

/// The text with every invalid byte sequence replaced by U+FFFD, as JSON and Protocol Buffers need
/// it.
std::string ValidUtf8(std::string_view text);

/// Prints a message to a terminal or a file, made `Printable` with all that is in it. For texts
/// with colours use `Printable` for the parts.
template <typename... Args>
void PrintText(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(stream, "{}", Printable(fmt::format(format, std::forward<Args>(args)...)));
}

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_PRINTABLE_H_
