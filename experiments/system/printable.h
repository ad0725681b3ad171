#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PRINTABLE_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PRINTABLE_H_

#include <string>
#include <string_view>

namespace ringside {

/// The text with every control character written as "\x1b", so that a file name or a log line
/// cannot contain control sequences of a terminal. Newlines and tabs stay. UTF-8 stays, without its
/// control characters (U+0080 to U+009F).
std::string Printable(std::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PRINTABLE_H_
