#ifndef RINGSIDE_RING_ALGORITHMS_TREE_TOPOLOGY_H_
#define RINGSIDE_RING_ALGORITHMS_TREE_TOPOLOGY_H_

#include <array>
#include <cstddef>
#include <vector>

namespace ringside {

/// A node's children: up to two ranks, in the order in which their terms are added.
class TreeChildren {
 public:
  void Add(int rank) { ranks_[count_++] = rank; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int* begin() { return ranks_.data(); }
  int* end() { return ranks_.data() + count_; }
  const int* begin() const { return ranks_.data(); }
  const int* end() const { return ranks_.data() + count_; }

 private:
  std::array<int, 2> ranks_{};
  std::size_t count_ = 0;
};

/// A rank's neighbours in one binary tree.
struct TreeNeighbors {
  int parent = -1;  ///< -1: the root.
  TreeChildren children{};
};

/// Returns a rank's neighbours in two binary trees of height floor(log2 N). Every rank is an inner
/// node of at most one tree (Sanders, Speck and Traeff, 2009; the numbering is that of NCCL since
/// 2.4). So when each tree carries half of the data, all links are used equally.
///
/// The first tree is an in-order tree over the positions 1..N, whose leaves are the odd positions.
/// The second tree is the first one mirrored (N even) or shifted by one (N odd). Both changes swap
/// odd and even.
std::array<TreeNeighbors, 2> DoubleTree(int rank, int world);

/// Returns all neighbours of a rank in both trees.
std::vector<int> DoubleTreePeers(int rank, int world);

}  // namespace ringside

#endif  // RINGSIDE_RING_ALGORITHMS_TREE_TOPOLOGY_H_
