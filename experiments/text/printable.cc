#include "ringside/experiments/text/printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

namespace ringside {
namespace {

std::uint8_t At(std::string_view text, std::size_t i) { return static_cast<std::uint8_t>(text[i]); }

bool IsControl(std::uint8_t byte) {
  return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
}

/// Whether U+0080 to U+009F begins there: C2 80 to C2 9F.
bool IsUtf8Control(std::string_view text, std::size_t i) {
  return At(text, i) == 0xc2 && i + 1 < text.size() && At(text, i + 1) >= 0x80 &&
         At(text, i + 1) < 0xa0;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (IsControl(At(text, i))) {
      fmt::format_to(std::back_inserter(printable), "\\x{:02x}", At(text, i));
    } else if (IsUtf8Control(text, i)) {
      fmt::format_to(std::back_inserter(printable), "\\x{:02x}", At(text, ++i));
    } else {
      printable += text[i];
    }
  }
  return printable;
}

std::string ValidUtf8(std::string_view text) {
  using nlohmann::json;
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

}  // namespace ringside
