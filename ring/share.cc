#include "ring/share.h"

#include <cstdint>

namespace ringside {
namespace {

/// Processors fetch cache lines in pairs.
constexpr std::size_t kLineFloats = 128 / sizeof(float);

/// Before which element of `data` the shares up to `index` end.
std::size_t Cut(std::span<const float> data, int shares, int index) {
  if (index == shares) return data.size();
  const std::size_t even =
      data.size() * static_cast<std::size_t>(index) / static_cast<std::size_t>(shares);
  const std::size_t skew = reinterpret_cast<std::uintptr_t>(data.data()) / sizeof(float);
  const std::size_t past_line = (skew + even) % kLineFloats;
  return even > past_line ? even - past_line : 0;
}

}  // namespace

Share ShareOf(std::span<const float> data, int shares, int index) {
  if (index >= shares) return {data.size(), data.size()};
  return {Cut(data, shares, index), Cut(data, shares, index + 1)};
}

}  // namespace ringside
