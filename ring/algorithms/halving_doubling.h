#ifndef RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_
#define RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_

#include <cstddef>
#include <span>

#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// Sums in place over all ranks by recursive halving and doubling (Thakur, Rabenseifner and Gropp,
/// 2005). Each element's sum is formed on one rank, in a fixed order, and copied, so all ranks hold
/// the same bits. Needs links to `FoldPeers`. `world` >= 2; `scratch` holds at least
/// `Links::kSegmentBytes`.
void HalvingDoublingAllReduce(Links& links, int rank, int world, std::span<float> data,
                              std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_
