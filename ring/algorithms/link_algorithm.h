#ifndef RINGSIDE_RING_ALGORITHMS_LINK_ALGORITHM_H_
#define RINGSIDE_RING_ALGORITHMS_LINK_ALGORITHM_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/codec/codec_options.h"
#include "ringside/common/measure/bound.h"
#include "ringside/common/measure/sum_traffic.h"
#include "ringside/common/strategy/strategy_traits.h"
#include "ringside/ring/algorithms/links.h"

namespace ringside {

/// One way to sum over `Links`: a row of the table of algorithms, with all that the rest of the
/// program knows of it. `LinkCollectiveEntry` (ring/collectives/link_collective_entry.h) makes a
/// collective of a row. Rows are constants that live as long as the program; collectives point at
/// them.
struct LinkAlgorithm {
  std::string_view name;  ///< Also the name of its collective and its strategy.
  std::string_view summary;
  /// Sums in place; all ranks get the same bits. `world` >= 2; `scratch` holds at least a segment.
  void (*all_reduce)(Links&, int rank, int world, std::span<float> data,
                     std::span<std::byte> scratch);
  /// Returns the ranks that a rank needs links to. Mutual.
  std::vector<int> (*peers)(int rank, int world);
  /// True: each partial or complete sum of an element is first sent by one rank, and the others
  /// pass it on unchanged. False: several ranks form the same sum, and each sends it.
  bool one_sender = true;
  Topology topology = Topology::kAllReduce;
  /// The time and the bytes that theory allows.
  Cost (*bound)(const CostInput&) = AllReduceCost;
  /// Returns who sends how much to whom. Null: nobody knows, or `topology` says it.
  SumTraffic (*traffic)(int world) = nullptr;
};

/// Ringside's own algorithms, in the order of lists.
std::span<const LinkAlgorithm* const> LinkAlgorithms();

/// Returns why ranks cannot encode the sums of `algorithm` with such a codec; empty: they can.
std::string WhyNotEncoded(const LinkAlgorithm& algorithm, const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_LINK_ALGORITHM_H_
