#ifndef RINGSIDE_RING_TREE_TOPOLOGY_H_
#define RINGSIDE_RING_TREE_TOPOLOGY_H_

#include <array>
#include <vector>

namespace ringside {

/// A rank's neighbours in one binary tree.
struct TreePlace {
  int parent = -1;              ///< -1: the root.
  std::vector<int> children{};  ///< Up to two, in the order in which their terms are added.
};

/// Two binary trees over the same ranks, of height floor(log2 N), in which every rank is an inner
/// node of at most one (Sanders, Speck and Traeff, 2009; the numbering is NCCL's, from 2.4 on). So
/// when each tree carries half of the data, all links are used alike. Pure.
///
/// The first tree is in order over the positions 1..N: odd positions are leaves. The second is the
/// first mirrored (N even) or shifted by one (N odd), either of which swaps odd and even.
std::array<TreePlace, 2> DoubleTree(int rank, int world);

/// All neighbours of a rank in both trees.
std::vector<int> DoubleTreePeers(int rank, int world);

}  // namespace ringside

#endif  // RINGSIDE_RING_TREE_TOPOLOGY_H_
