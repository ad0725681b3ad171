#ifndef RINGSIDE_EXPERIMENTS_TEXT_JSON_INTEGER_H_
#define RINGSIDE_EXPERIMENTS_TEXT_JSON_INTEGER_H_

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {

/// The whole number that a JSON value is. Nothing for a value of another type, for a number with a
/// fraction or an exponent, and for one that T cannot hold. `get<T>()` would convert all of these,
/// and the behaviour is undefined where a fraction does not fit.
template <std::integral T>
std::optional<T> IntegerOf(const nlohmann::json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                               : std::in_range<T>(value.get<std::int64_t>());
  if (!fits) return std::nullopt;
  return value.get<T>();
}

/// The same number, or `ConfigError`. The error leaves out the value, because a message that is
/// damaged may have a token there.
template <std::integral T>
T RequireInteger(const nlohmann::json& value) {
  const std::optional<T> number = IntegerOf<T>(value);
  if (!number) throw ConfigError("a number of a message is no whole number, or too large");
  return *number;
}

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_JSON_INTEGER_H_
