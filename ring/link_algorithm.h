#ifndef RINGSIDE_RING_LINK_ALGORITHM_H_
#define RINGSIDE_RING_LINK_ALGORITHM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec_options.h"
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
  /// Every element of a sum, partial or complete, is sent by one rank, and passed on as it was
  /// received. Otherwise ranks that hold the same sum each send it.
  bool one_sender = true;
};

/// All of them, by id.
std::span<const LinkAlgorithm> LinkAlgorithms();

const LinkAlgorithm& AlgorithmOf(RingAlgorithm id);

/// Why sums of `algorithm` cannot be encoded on their way with such a codec; empty: they can.
std::string WhyNotEncoded(const LinkAlgorithm& algorithm, const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_RING_LINK_ALGORITHM_H_
