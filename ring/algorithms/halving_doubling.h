#ifndef RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_
#define RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_

#include "ringside/ring/algorithms/link_algorithm.h"

namespace ringside {

/// Recursive halving and doubling (Thakur, Rabenseifner and Gropp, 2005). Each element's sum is
/// formed on one rank, in a fixed order, and copied, so all ranks hold the same bits.
extern const LinkAlgorithm kHalvingDoublingAlgorithm;

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_HALVING_DOUBLING_H_
