#include "ringside/experiments/text/value_order.h"

#include <charconv>

namespace ringside {
namespace {

constexpr std::string_view kDigits = "0123456789";

double Factor(std::string_view rest) {
  switch (rest.empty() ? ' ' : rest.front()) {
    case 'k':
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1;
  }
}

}  // namespace

ValueOrder ValueOrderOf(std::string_view text) {
  ValueOrder order{-1, std::string(text)};
  const std::size_t begin = text.find_first_of(kDigits);
  if (begin == std::string_view::npos) return order;
  const std::string_view number = text.substr(begin);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                            std::chars_format::fixed);
  if (error != std::errc()) return order;  // too large for a double
  order.quantity = value * Factor(number.substr(static_cast<std::size_t>(end - number.data())));
  return order;
}

}  // namespace ringside
