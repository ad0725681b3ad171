#include "ringside/experiments/web/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/sha256.h"

namespace ringside {

using nlohmann::json;

std::string_view TextOf(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string Base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group =
          group << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
    }
    const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::string ScriptHash(std::string_view script) {
  return fmt::format("'sha256-{}'", Base64(Sha256(std::as_bytes(std::span(script)))));
}

std::string FillTemplate(std::string_view page,
                         const std::map<std::string_view, std::string_view>& parts) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    out += page.substr(at, open - at);
    if (open == std::string_view::npos) return out;
    const std::size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto part = parts.find(name);
    if (part == parts.end()) {
      throw InternalError(fmt::format("the page's template names an unknown part '{}'", name));
    }
    out += part->second;
    at = close + 2;
  }
}

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string ScriptSafeJson(const json& value) {
  // The dump already escapes everything outside ASCII, including the line separators.
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace ringside
