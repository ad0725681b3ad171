#include "ringside/experiments/cli/options/color.h"

#include <fmt/format.h>
#include <unistd.h>

#include "ringside/common/base/errors.h"

namespace ringside {

ColorMode ParseColorMode(std::string_view text) {
  if (text == "auto") return ColorMode::kAuto;
  if (text == "always") return ColorMode::kAlways;
  if (text == "never") return ColorMode::kNever;
  throw UsageError(fmt::format("--color: '{}' is neither auto nor always nor never", text));
}

bool UseColor(ColorMode mode, bool is_terminal, const Environment& environment) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const auto no_color = environment.find("NO_COLOR");
  if (no_color != environment.end() && !no_color->second.empty()) return false;
  const auto term = environment.find("TERM");
  if (term != environment.end() && term->second == "dumb") return false;
  return is_terminal;
}

Painter Painter::For(std::FILE* stream, ColorMode mode) {
  return Painter(UseColor(mode, isatty(fileno(stream)) == 1, CurrentEnvironment()));
}

std::string Painter::Paint(std::string_view code, std::string_view text) const {
  if (!enabled_) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace ringside
