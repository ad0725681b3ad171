#include "ring/exchange.h"

#include <algorithm>

#include "ring/segments.h"

namespace ringside {

void Exchange(Links& links, int peer, std::span<const std::byte> out, std::span<std::byte> in,
              std::span<std::byte> scratch) {
  const std::size_t total = SegmentCount(std::max(out.size(), in.size()));
  const std::size_t ahead = std::min(total, SegmentsAhead(links));
  for (std::size_t k = 0; k < total + ahead; ++k) {
    const auto sent = Segment(out, k);
    if (!sent.empty()) links.Send(peer, sent);
    if (k < ahead) continue;
    const auto segment = Segment(in, k - ahead);
    if (segment.empty()) continue;
    if (scratch.empty()) {
      links.Receive(peer, segment);
    } else {
      links.ReceiveAdd(peer, segment, scratch);
    }
  }
}

}  // namespace ringside
