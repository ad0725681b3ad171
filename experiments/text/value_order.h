#ifndef RINGSIDE_EXPERIMENTS_TEXT_VALUE_ORDER_H_
#define RINGSIDE_EXPERIMENTS_TEXT_VALUE_ORDER_H_

#include <compare>
#include <string>
#include <string_view>

namespace ringside {

/// Where a value stands among others of its key: first by the first quantity in its text, then by
/// the text. So 300Mbps comes before 1Gbps, and 8 before 16. A text without a digit comes first.
struct ValueOrder {
  double quantity = 0;
  std::string text;
  auto operator<=>(const ValueOrder&) const = default;
};

/// Reads the first number of the text and the letter behind it: k, M, G or T stand for powers of
/// 1000; a minus sign is not read. Pure.
ValueOrder ValueOrderOf(std::string_view text);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_VALUE_ORDER_H_
