#ifndef RINGSIDE_RING_SHM_SUM_VECTORS_H_
#define RINGSIDE_RING_SHM_SUM_VECTORS_H_

#include <cstddef>
#include <span>

namespace ringside {

/// to[t][i] = from[0][i] + from[1][i] + ... for 0 <= i < count and every t: each term is read
/// once, the sum is written to all. Added in the order of `from`, one IEEE addition a term, so the
/// bits depend neither on how the vectors are cut nor on the instruction set. A vector of `to` is
/// one of `from` or disjoint from them.
void SumVectors(std::span<const float* const> from, std::span<float* const> to, std::size_t count);

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SUM_VECTORS_H_
