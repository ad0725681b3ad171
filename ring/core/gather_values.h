#ifndef RINGSIDE_RING_CORE_GATHER_VALUES_H_
#define RINGSIDE_RING_CORE_GATHER_VALUES_H_

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/ring/core/collective.h"

namespace ringside {

/// Gathers one plain value from each of `ranks` ranks. Throws `CommError` of `operation` when the
/// collective returns another number of bytes.
template <typename Value>
std::vector<Value> GatherValues(Collective& collective, const Value& mine, int ranks,
                                const std::string& operation) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> by_rank(static_cast<std::size_t>(ranks));
  const auto bytes = collective.AllGather(std::as_bytes(std::span(&mine, 1)));
  const std::size_t expected = by_rank.size() * sizeof(Value);
  if (bytes.size() != expected) {
    throw CommError("the collective", operation,
                    "it gathered " + std::to_string(bytes.size()) + " bytes of " +
                        std::to_string(ranks) + " ranks instead of " + std::to_string(expected));
  }
  std::memcpy(by_rank.data(), bytes.data(), bytes.size());
  return by_rank;
}

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_GATHER_VALUES_H_
