#include "ringside/ring/algorithms/tree_topology.h"

#include <algorithm>
#include <bit>

namespace ringside {
namespace {

/// The positions begin..end of an in-order tree; empty if begin > end.
struct Subtree {
  int begin = 1;
  int end = 0;

  bool empty() const { return begin > end; }
  /// The left subtree is complete, so the distance from the start to the root is a power of two.
  int root() const {
    return begin - 1 + static_cast<int>(std::bit_floor(static_cast<unsigned>(end - begin + 1)));
  }
  Subtree left() const { return {begin, root() - 1}; }
  Subtree right() const { return {root() + 1, end}; }
};

/// The parent and children of a position 1..world, as positions.
TreeNeighbors NeighborsOf(int position, int world) {
  TreeNeighbors place;
  Subtree tree{1, world};
  while (tree.root() != position) {
    place.parent = tree.root();
    tree = position < tree.root() ? tree.left() : tree.right();
  }
  for (const Subtree& child : {tree.left(), tree.right()}) {
    if (!child.empty()) place.children.Add(child.root());
  }
  return place;
}

template <typename RankAt>
TreeNeighbors AsRanks(TreeNeighbors place, RankAt rank_at) {
  if (place.parent >= 0) place.parent = rank_at(place.parent);
  std::ranges::transform(place.children, place.children.begin(), rank_at);
  return place;
}

TreeNeighbors FirstTree(int rank, int world) {
  return AsRanks(NeighborsOf(rank + 1, world), [](int position) { return position - 1; });
}

TreeNeighbors MirroredTree(int rank, int world) {
  return AsRanks(NeighborsOf(world - rank, world), [=](int position) { return world - position; });
}

TreeNeighbors ShiftedTree(int rank, int world) {
  return AsRanks(NeighborsOf((rank + 1) % world + 1, world),
                 [=](int position) { return (position + world - 2) % world; });
}

}  // namespace

std::array<TreeNeighbors, 2> DoubleTree(int rank, int world) {
  return {FirstTree(rank, world),
          world % 2 == 0 ? MirroredTree(rank, world) : ShiftedTree(rank, world)};
}

std::vector<int> DoubleTreePeers(int rank, int world) {
  std::vector<int> peers;
  for (const TreeNeighbors& place : DoubleTree(rank, world)) {
    if (place.parent >= 0) peers.push_back(place.parent);
    peers.insert(peers.end(), place.children.begin(), place.children.end());
  }
  return peers;
}

}  // namespace ringside
