#include "ringside/ring/algorithms/link_algorithm.h"

#include <fmt/format.h>

#include <array>

#include "ringside/ring/algorithms/halving_doubling.h"
#include "ringside/ring/algorithms/pairwise.h"
#include "ringside/ring/algorithms/recursive_doubling.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/algorithms/tree_all_reduce.h"
#include "ringside/ring/algorithms/tree_topology.h"

namespace ringside {
namespace {

constexpr std::array<LinkAlgorithm, 4> kAlgorithms{{
    {RingAlgorithm::kRing, "ring", RingAllReduce, RingPeers},
    {RingAlgorithm::kHalvingDoubling, "halving-doubling", HalvingDoublingAllReduce, FoldPeers},
    {RingAlgorithm::kRecursiveDoubling, "recursive-doubling", RecursiveDoublingAllReduce, FoldPeers,
     /*one_sender=*/false},
    {RingAlgorithm::kTree, "tree", TreeAllReduce, DoubleTreePeers},
}};

}  // namespace

std::span<const LinkAlgorithm> LinkAlgorithms() { return kAlgorithms; }

const LinkAlgorithm& AlgorithmOf(RingAlgorithm id) {
  return kAlgorithms[static_cast<std::size_t>(id)];
}

std::string WhyNotEncoded(const LinkAlgorithm& algorithm, const CodecOptions& codec) {
  if (algorithm.one_sender || (codec.entry->to_nearest && !UsesErrorFeedback(codec))) return {};
  return fmt::format(
      "in {} several ranks encode the same sum, which leaves the same bits everywhere only where "
      "all round alike: fp16 and bf16 without error feedback; take those, or strategy ring, "
      "halving-doubling or tree",
      algorithm.name);
}

}  // namespace ringside
