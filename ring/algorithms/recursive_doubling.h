#ifndef RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_
#define RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_

#include <cstddef>
#include <span>

#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// Sums in place over all ranks by recursive doubling (Thakur, Rabenseifner and Gropp, 2005). It
/// takes the fewest steps possible, for messages whose latency costs more than their bytes. Every
/// rank forms every sum; all have the same bits because partners add the same two terms. Needs
/// links to `FoldPeers`. `world` >= 2; `scratch` holds at least `Links::kSegmentBytes`.
void RecursiveDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                                std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_
