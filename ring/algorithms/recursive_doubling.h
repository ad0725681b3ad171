#ifndef RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_
#define RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_

#include "ringside/ring/algorithms/link_algorithm.h"

namespace ringside {

/// Recursive doubling (Thakur, Rabenseifner and Gropp, 2005). It takes the fewest steps possible,
/// for messages whose latency costs more than their bytes. Every rank forms every sum; all have the
/// same bits because partners add the same two terms.
extern const LinkAlgorithm kRecursiveDoublingAlgorithm;

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_RECURSIVE_DOUBLING_H_
