#include "ring/link_algorithm.h"

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
    {RingAlgorithm::kRecursiveDoubling, "recursive-doubling", RecursiveDoublingAllReduce,
     FoldPeers},
    {RingAlgorithm::kTree, "tree", TreeAllReduce, DoubleTreePeers},
}};

}  // namespace

std::span<const LinkAlgorithm> LinkAlgorithms() { return kAlgorithms; }

const LinkAlgorithm& AlgorithmOf(RingAlgorithm id) {
  return kAlgorithms[static_cast<std::size_t>(id)];
}

}  // namespace ringside
