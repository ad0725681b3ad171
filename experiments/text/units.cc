#include "ringside/experiments/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKi = 1024;
constexpr std::array kByteUnits{
    Unit{"B", 1},
    Unit{"KiB", kKi},
    Unit{"MiB", kKi* kKi},
    Unit{"kB", 1e3},
    Unit{"GiB", kKi* kKi* kKi},
    Unit{"MB", 1e6},
    Unit{"GB", 1e9},
    Unit{"KB", 1e3},
};
constexpr std::array kRateUnits{
    Unit{"bps", 1},    Unit{"kbps", 1e3},   Unit{"Mbps", 1e6},    Unit{"Gbps", 1e9},
    Unit{"bit/s", 1},  Unit{"kbit/s", 1e3}, Unit{"Mbit/s", 1e6},  Unit{"Gbit/s", 1e9},
    Unit{"Kbps", 1e3}, Unit{"Tbps", 1e12},  Unit{"Tbit/s", 1e12},
};
constexpr std::array kTimeUnits{
    Unit{"s", 1},     Unit{"ms", 1e-3}, Unit{"us", 1e-6},
    Unit{"ns", 1e-9}, Unit{"min", 60},  Unit{"h", 3600},
};

constexpr std::array kFractionUnits{Unit{"%", 1e-2}};

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The number at the start of `text`, and the text after it.
std::pair<double, std::string_view> SplitNumber(std::string_view text, std::string_view expected) {
  text = Trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) {
    throw ConfigError(fmt::format("'{}' is not {}", text, expected));
  }
  return {number, Trim(text.substr(static_cast<std::size_t>(end - text.data())))};
}

double ParseWithUnit(std::string_view text, std::span<const Unit> units, double default_factor,
                     std::string_view expected) {
  const auto [number, name] = SplitNumber(text, expected);
  if (name.empty()) return number * default_factor;
  const auto unit = std::ranges::find(units, name, &Unit::name);
  if (unit == units.end()) throw ConfigError(fmt::format("'{}' is not {}", text, expected));
  return number * unit->factor;
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(Trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::int64_t ParseInteger(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error != std::errc() || end != trimmed.data() + trimmed.size()) {
    throw ConfigError(fmt::format("'{}' is not a whole number", text));
  }
  return number;
}

double ParseReal(std::string_view text) {
  const auto [number, rest] = SplitNumber(text, "a number");
  if (!rest.empty()) throw ConfigError(fmt::format("'{}' is not a number", text));
  return number;
}

bool ParseSwitch(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  throw ConfigError(fmt::format("'{}' is neither true nor false", text));
}

std::vector<int> ParseIntegerList(std::string_view text) {
  std::vector<int> numbers;
  if (Trim(text).empty()) return numbers;
  for (const std::string_view part : SplitCommas(text)) {
    const std::int64_t number = ParseInteger(part);
    if (!std::in_range<int>(number)) throw ConfigError(fmt::format("{} is too large", number));
    numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

std::vector<std::string> ParseWordList(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view part : SplitCommas(text)) {
    if (part.empty()) throw ConfigError(fmt::format("'{}' has an empty entry", text));
    words.emplace_back(part);
  }
  return words;
}

std::vector<std::pair<std::string, std::string>> ParsePairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& word : ParseWordList(text)) {
    const std::size_t equals = word.find('=');
    const std::string_view all = word;
    const std::string name(equals == std::string::npos ? "" : Trim(all.substr(0, equals)));
    const std::string value(equals == std::string::npos ? all : Trim(all.substr(equals + 1)));
    if (equals != std::string::npos && (name.empty() || value.empty())) {
      throw ConfigError(fmt::format("'{}' is not NAME=VALUE", word));
    }
    const auto same = [&](const auto& pair) { return pair.first == name; };
    if (std::ranges::any_of(pairs, same)) {
      throw ConfigError(name.empty() ? fmt::format("'{}' has no name: NAME=VALUE expected", word)
                                     : fmt::format("'{}' comes twice", name));
    }
    pairs.emplace_back(name, value);
  }
  return pairs;
}

std::int64_t ParseBytes(std::string_view text, std::int64_t unit_bytes) {
  const double bytes = ParseWithUnit(text, kByteUnits, static_cast<double>(unit_bytes),
                                     "a size such as 64KiB or 4MiB");
  if (bytes < 0 || bytes > 0x1p62 || bytes != std::floor(bytes)) {
    throw ConfigError(fmt::format("'{}' is not a whole number of bytes", text));
  }
  return static_cast<std::int64_t>(bytes);
}

double ParseBitsPerSecond(std::string_view text) {
  return ParseWithUnit(text, kRateUnits, 1, "a rate such as 1Gbps or 100Mbps");
}

double ParseSeconds(std::string_view text) {
  return ParseWithUnit(text, kTimeUnits, 1, "a duration such as 2s or 500us");
}

double ParseFraction(std::string_view text) {
  return ParseWithUnit(text, kFractionUnits, 1, "a fraction (0.05 or 5%)");
}

std::string FormatBytes(double bytes) {
  constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t index = 0;
  while (bytes >= 1024 && index + 1 < kNames.size()) {
    bytes /= 1024;
    ++index;
  }
  return fmt::format("{:.{}f} {}", bytes, index == 0 || bytes >= 100 ? 0 : (bytes >= 10 ? 1 : 2),
                     kNames[index]);
}

std::string FormatCount(std::int64_t count) {
  constexpr std::size_t kGroup = 3;
  const std::string digits = fmt::format("{}", count);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    const bool begins_group = at > 0 && (digits.size() - at) % kGroup == 0;
    if (begins_group && digits[at - 1] != '-') text += ',';
    text += digits[at];
  }
  return text;
}

std::string FormatSeconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace ringside
