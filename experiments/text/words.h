#ifndef RINGSIDE_EXPERIMENTS_TEXT_WORDS_H_
#define RINGSIDE_EXPERIMENTS_TEXT_WORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The words of a command line, as a POSIX shell splits it: at blanks, except inside of '...' and
/// "..." and after a backslash. Nothing is expanded. Throws `ConfigError` when a quote does not end
/// or a backslash is the last character.
std::vector<std::string> SplitWords(std::string_view line);

/// A line that `SplitWords` splits into these words, and a shell, too.
std::string JoinWords(std::span<const std::string> words);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_WORDS_H_
