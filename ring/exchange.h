#ifndef RINGSIDE_RING_EXCHANGE_H_
#define RINGSIDE_RING_EXCHANGE_H_

#include <cstddef>
#include <span>

#include "ring/links.h"

namespace ringside {

/// A step between two ranks that the algorithms share. `scratch` holds at least a segment.
///
/// Sends `out` while it receives `in`, in segments, a few of them ahead; the peer does the same.
/// Adds what comes when there is scratch space, replaces otherwise. `out` and `in` are disjoint or
/// the same: a segment has been sent before what comes is added to it.
void Exchange(Links& links, int peer, std::span<const std::byte> out, std::span<std::byte> in,
              std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_EXCHANGE_H_
