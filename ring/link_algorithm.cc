#include "ring/link_algorithm.h"

#include <fmt/format.h>

#include <array>

#include "ring/fold.h"
#include "ring/halving_doubling.h"
#include "ring/recursive_doubling.h"
#include "ring/ring_algorithms.h"
#include "ring/tree_all_reduce.h"
#include "ring/tree_topology.h"

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
  const bool to_nearest = codec.kind == CodecKind::kFp16 || codec.kind == CodecKind::kBf16;
  if (algorithm.one_sender || (to_nearest && !FeedsErrorsBack(codec))) return {};
  return fmt::format(
      "in {} several ranks encode the same sum, which leaves the same bits everywhere only where "
      "all round alike: fp16 and bf16 without error feedback; take those, or strategy ring, "
      "halving-doubling or tree",
      algorithm.name);
}

}  // namespace ringside
