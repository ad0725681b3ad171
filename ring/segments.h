#ifndef RINGSIDE_RING_SEGMENTS_H_
#define RINGSIDE_RING_SEGMENTS_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "ring/links.h"

namespace ringside {

/// Messages that `bytes` are cut into.
inline std::size_t SegmentCount(std::size_t bytes) {
  return (bytes + Links::kSegmentBytes - 1) / Links::kSegmentBytes;
}

/// The i-th message of `range`; empty past the end.
template <typename Byte>
std::span<Byte> Segment(std::span<Byte> range, std::size_t index) {
  const std::size_t begin = std::min(index * Links::kSegmentBytes, range.size());
  return range.subspan(begin, std::min(Links::kSegmentBytes, range.size() - begin));
}

/// How many messages a rank may be ahead of what it has received: with the message under way they
/// fill a connection's window.
inline std::size_t SegmentsAhead(const Links& links) {
  return links.window_bytes() / Links::kSegmentBytes - 1;
}

}  // namespace ringside

#endif  // RINGSIDE_RING_SEGMENTS_H_
