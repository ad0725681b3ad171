#ifndef RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_
#define RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_

#include "ringside/ring/algorithms/link_algorithm.h"

namespace ringside {

/// A double binary tree, pipelined (Sanders, Speck and Traeff, 2009): each tree sums half of the
/// data at its root and spreads it again. It takes few steps, like recursive doubling, and sends
/// few bytes, like a ring. Each element's sum is formed in a fixed order and copied, so all ranks
/// hold the same bits.
extern const LinkAlgorithm kTreeAlgorithm;

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_TREE_ALL_REDUCE_H_
