#include "ringside/common/base/hex.h"

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

unsigned DigitAt(std::string_view hex, std::size_t place) {
  const char digit = hex[place];
  const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
  const std::size_t value = kDigits.find(lower);
  if (value == std::string_view::npos) {
    throw InternalError("character " + std::to_string(place) + " of '" + std::string(hex) +
                        "' is no hex digit");
  }
  return static_cast<unsigned>(value);
}

}  // namespace

std::string ToHex(std::span<const std::byte> bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    hex += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return hex;
}

std::vector<std::byte> FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    throw InternalError("'" + std::string(hex) + "' has " + std::to_string(hex.size()) +
                        " hex digits; a byte takes two");
  }
  std::vector<std::byte> bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(DigitAt(hex, i) << 4 | DigitAt(hex, i + 1)));
  }
  return bytes;
}

}  // namespace ringside
