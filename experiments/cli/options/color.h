#ifndef RINGSIDE_EXPERIMENTS_CLI_OPTIONS_COLOR_H_
#define RINGSIDE_EXPERIMENTS_CLI_OPTIONS_COLOR_H_

#include <cstdio>
#include <string>
#include <string_view>

#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

enum class ColorMode { kAuto, kAlways, kNever };

/// Parses auto, always or never. Throws `UsageError` on any other text.
ColorMode ParseColorMode(std::string_view text);

/// Whether output of a stream may be coloured. kAuto: only on a terminal, and not when NO_COLOR is
/// set to any value (https://no-color.org) or TERM is "dumb".
bool UseColor(ColorMode mode, bool is_terminal, const Environment& environment);

/// Puts ANSI colours around text, or leaves the text plain. A value.
class Painter {
 public:
  explicit Painter(bool enabled = false) : enabled_(enabled) {}
  /// The painter for `stream` of this process.
  static Painter For(std::FILE* stream, ColorMode mode);

  std::string Bold(std::string_view text) const { return Paint("1", text); }
  std::string Good(std::string_view text) const { return Paint("32", text); }
  std::string Bad(std::string_view text) const { return Paint("31", text); }
  std::string Faint(std::string_view text) const { return Paint("2", text); }

 private:
  std::string Paint(std::string_view code, std::string_view text) const;

  bool enabled_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_OPTIONS_COLOR_H_
