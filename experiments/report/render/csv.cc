#include "ringside/experiments/report/render/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace ringside {
namespace {

constexpr std::string_view kFormulaStarts = "=+-@\t\r";

// A number needs no apostrophe, even when it begins with a sign.
bool IsNumber(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

bool IsFormula(const std::string& text) {
  if (text.empty() || kFormulaStarts.find(text.front()) == std::string_view::npos) return false;
  return !IsNumber(text);
}

}  // namespace

std::string CsvText(const std::string& text) {
  std::string safe = IsFormula(text) ? '\'' + text : text;
  if (safe.find_first_of(",\"\r\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string CsvNumber(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace ringside
