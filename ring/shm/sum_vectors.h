#ifndef RINGSIDE_RING_SHM_SUM_VECTORS_H_
#define RINGSIDE_RING_SHM_SUM_VECTORS_H_

#include <cstddef>
#include <span>

namespace ringside {

/// to[t][i] = from[0][i] + from[1][i] + ... for 0 <= i < count and every t. Each term is read once,
/// and the sum is written to all of `to`. Terms are added in the order of `from`, with one IEEE
/// addition each. So the bits depend neither on how the vectors are cut nor on the instruction set.
/// A vector of `to` is either one of `from` or disjoint from all of them.
void SumVectors(std::span<const float* const> from, std::span<float* const> to, std::size_t count);

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SUM_VECTORS_H_
