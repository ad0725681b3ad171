#ifndef RINGSIDE_RING_LINK_ALGORITHM_H_
#define RINGSIDE_RING_LINK_ALGORITHM_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "ring/links.h"

namespace ringside {

enum class RingAlgorithm { kRing, kHalvingDoubling, kRecursiveDoubling, kTree };

/// One way to sum over `Links`.
struct LinkAlgorithm {
  RingAlgorithm id;
  std::string_view name;  ///< As strategies and collectives are called.
  /// In place, the same bits on all ranks. `world` >= 2; `scratch` holds at least a segment.
  void (*all_reduce)(Links&, int rank, int world, std::span<float> data,
                     std::span<std::byte> scratch);
  /// Whom a rank needs links to; mutual.
  std::vector<int> (*peers)(int rank, int world);
};

/// All of them, by id.
std::span<const LinkAlgorithm> LinkAlgorithms();

const LinkAlgorithm& AlgorithmOf(RingAlgorithm id);

}  // namespace ringside

#endif  // RINGSIDE_RING_LINK_ALGORITHM_H_
