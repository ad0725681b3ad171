#ifndef RINGSIDE_RING_ALGORITHMS_RING_ALGORITHMS_H_
#define RINGSIDE_RING_ALGORITHMS_RING_ALGORITHMS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "ringside/ring/algorithms/link_algorithm.h"
#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// Pipelined algorithms on a ring: rank r sends to r+1 and receives from r-1. `world` >= 2. All are
/// collective and need links to both neighbours.

/// Returns the two neighbours. In a world of two both are the same rank.
std::vector<int> RingPeers(int rank, int world);

/// The sum: reduce-scatter, then all-gather (Patarasuk and Yuan, 2009). Chunk c is summed in the
/// order c, c+1, ... of the ranks, so all ranks hold the same bits. Sends and receives 2(N-1)/N of
/// the data.
extern const LinkAlgorithm kRingAlgorithm;

/// Gathers one block per rank. `blocks` holds N blocks of the same length. Before the call rank r
/// has filled block r; after it all blocks are filled. Sends and receives (N-1)/N of `blocks`.
void RingAllGather(Links& links, int rank, int world, std::span<std::byte> blocks);

/// Copies the root's `data` to all ranks, from neighbour to neighbour, segment by segment.
void RingBroadcast(Links& links, int rank, int world, int root, std::span<std::byte> data);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_RING_ALGORITHMS_H_
