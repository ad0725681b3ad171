#ifndef RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_
#define RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_

#include <cstddef>
#include <span>

#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// Sums in place over all ranks along a double binary tree, pipelined (Sanders, Speck and Traeff,
/// 2009): each tree sums half of the data at its root and spreads it again. It takes few steps,
/// like recursive doubling, and sends few bytes, like a ring. Each element's sum is formed in a
/// fixed order and copied, so all ranks hold the same bits. Needs links to `DoubleTreePeers`.
/// `world` >= 2; `scratch` holds at least `Links::kSegmentBytes`.
void TreeAllReduce(Links& links, int rank, int world, std::span<float> data,
                   std::span<std::byte> scratch);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_
