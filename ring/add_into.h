#ifndef RINGSIDE_RING_ADD_INTO_H_
#define RINGSIDE_RING_ADD_INTO_H_

#include <cstddef>
#include <span>

namespace ringside {

/// sum[i] += term[i]. The spans are equally long and disjoint. Vectorised; one IEEE addition per
/// element, so the bits do not depend on the instruction set.
void AddInto(std::span<float> sum, std::span<const float> term);

/// The same for bytes that hold floats, aligned to them.
void AddInto(std::span<std::byte> sum, std::span<const std::byte> term);

}  // namespace ringside

#endif  // RINGSIDE_RING_ADD_INTO_H_
