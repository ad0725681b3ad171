#ifndef RINGSIDE_EXPERIMENTS_TEXT_JSON_DEPTH_H_
#define RINGSIDE_EXPERIMENTS_TEXT_JSON_DEPTH_H_

#include <string_view>

namespace ringside {

/// The most objects and lists within each other in a JSON text of a file.
inline constexpr int kMaxJsonDepth = 64;

/// Whether a JSON text has more. Functions that copy, compare or print a JSON value call themselves
/// once for each level, so a value that is too deep would overflow the stack. For a text that is no
/// JSON the answer has no meaning; the parser refuses it.
bool IsTooDeepJson(std::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_JSON_DEPTH_H_
