// Steps and bytes. Each of two trees carries half of the data, in segments. On the way up, every
// inner node adds its children's segments to its own and sends the sum to its parent. On the way
// down, it passes the root's segment on to its children. 2 floor(log2 N) steps. An inner node with
// a parent and two children sends and receives 3/2 M in that tree, and 1/2 M as a leaf of the other
// tree. That is 2 M, the maximum.
//
// Every rank goes through the same list of turns. For k = 0, 1, ...: segment k up the first tree,
// segment k up the second, segment k - `kLag` down the first, segment k - `kLag` down the second.
// The lag lets one segment reach the root while later ones are still moving up.
//
// Ranks never wait for each other in a cycle, however small the windows are. A rank waits only for
// ranks at the same turn or an earlier one, so all ranks of a cycle would be at the same turn. A
// turn uses the edges of one tree. A cycle in a tree can only be two neighbours, but in one turn
// one of them only sends and the other only receives.
#include "ringside/ring/algorithms/tree_all_reduce.h"

#include <array>

#include "ringside/ring/algorithms/tree_topology.h"

namespace ringside {
namespace {

/// The number of segments that go up a tree before the first one comes down.
constexpr std::size_t kLag = 4;

/// Below this size the first tree carries everything: a second message would cost more than half of
/// the bytes.
constexpr std::size_t kLeastToSplit = 32 << 10;

struct Half {
  TreeNeighbors place;
  std::span<std::byte> data;
};

std::array<Half, 2> Split(int rank, int world, std::size_t element_bytes,
                          std::span<std::byte> data) {
  const auto [first, second] = DoubleTree(rank, world);
  const std::size_t elements = data.size() / element_bytes;
  const std::size_t middle =
      data.size() < kLeastToSplit ? data.size() : (elements + 1) / 2 * element_bytes;
  return {Half{first, data.first(middle)}, Half{second, data.subspan(middle)}};
}

void Up(Links& links, const Half& half, std::size_t index, std::span<std::byte> scratch) {
  const auto segment = Segment(half.data, index);
  if (segment.empty()) return;
  for (const int child : half.place.children) {
    links.ReceiveAdd(child, segment, scratch, ChunkPhase::kReduce);
  }
  if (half.place.parent >= 0) links.Send(half.place.parent, segment, ChunkPhase::kReduce);
}

void Down(Links& links, const Half& half, std::size_t index) {
  const auto segment = Segment(half.data, index);
  if (segment.empty()) return;
  if (half.place.parent >= 0) links.Receive(half.place.parent, segment, ChunkPhase::kBroadcast);
  for (const int child : half.place.children) {
    links.Send(child, segment, ChunkPhase::kBroadcast);
  }
}

void TreeAllReduce(Links& links, int rank, int world, std::span<float> data,
                   std::span<std::byte> scratch) {
  const auto halves = Split(rank, world, links.element_bytes(), std::as_writable_bytes(data));
  const std::size_t segments = SegmentCount(halves[0].data.size());
  for (std::size_t k = 0; k < segments + kLag; ++k) {
    for (const Half& half : halves) Up(links, half, k, scratch);
    if (k < kLag) continue;
    for (const Half& half : halves) Down(links, half, k - kLag);
  }
}

/// Half of the bytes go up each tree, and the sums come down.
SumTraffic TreeTraffic(int world) {
  Phase edges;
  for (int rank = 0; rank < world; ++rank) {
    for (const TreeNeighbors& place : DoubleTree(rank, world)) {
      if (place.parent < 0) continue;
      edges.push_back({.from = rank, .to = place.parent, .share = 0.5});
      edges.push_back({.from = place.parent, .to = rank, .share = 0.5});
    }
  }
  return {edges};
}

}  // namespace

constinit const LinkAlgorithm kTreeAlgorithm{
    .name = "tree",
    .summary = "double binary tree over Gloo's TCP transport, pipelined",
    .all_reduce = TreeAllReduce,
    .peers = DoubleTreePeers,
    .bound = TreeCost,
    .traffic = TreeTraffic,
};

}  // namespace ringside
