#ifndef RINGSIDE_RING_RECURSIVE_DOUBLING_H_
#define RINGSIDE_RING_RECURSIVE_DOUBLING_H_

#include <cstddef>
#include <span>

#include "ring/links.h"

namespace ringside {

/// In place sum over all ranks by recursive doubling (Thakur, Rabenseifner and Gropp, 2005): the
/// fewest steps there can be, for messages whose latency counts more than their bytes. Every rank
/// forms every sum; they agree in their bits because partners add the same two terms. Needs links
/// to `FoldPeers`. `world` >= 2; `scratch` holds at least `Links::kSegmentBytes`.
void RecursiveDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                                std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_RECURSIVE_DOUBLING_H_
