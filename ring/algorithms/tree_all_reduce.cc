// Steps and bytes. Each of two trees carries half of the data, in segments: up, every inner node
// adds its children's segment to its own and sends the sum to its parent; down, it passes the
// root's on to its children. 2 floor(log2 N) steps. An inner node with a parent and two children
// sends and receives 3/2 M there, and 1/2 M as a leaf of the other tree: 2 M, the most there is.
//
// Every rank goes through the same list of turns: for k = 0, 1, ... segment k up the first tree,
// up the second, segment k - `kLag` down the first, down the second. The lag lets a segment reach
// the root while further ones are on their way.
//
// No cycle of ranks waits for each other, however small the windows: a rank waits only for ranks at
// the same turn or an earlier one, so all ranks of a cycle would be at the same turn. A turn uses
// the edges of one tree. There a cycle is two neighbours, but in a turn one only sends and the
// other only receives.
#include "ringside/ring/algorithms/tree_all_reduce.h"

#include <array>

#include "ringside/ring/algorithms/tree_topology.h"

namespace ringside {
namespace {

/// How many segments go up a tree before the first comes down.
constexpr std::size_t kLag = 4;

/// Below this size the first tree carries all: a second message costs more than half of the bytes.
constexpr std::size_t kLeastToSplit = 32 << 10;

struct Half {
  TreeNeighbors place;
  std::span<std::byte> data;
};

std::array<Half, 2> Split(int rank, int world, std::size_t element_bytes,
                          std::span<std::byte> data) {
  auto [first, second] = DoubleTree(rank, world);
  const std::size_t elements = data.size() / element_bytes;
  const std::size_t middle =
      data.size() < kLeastToSplit ? data.size() : (elements + 1) / 2 * element_bytes;
  return {Half{std::move(first), data.first(middle)},
          Half{std::move(second), data.subspan(middle)}};
}

void Up(Links& links, const Half& half, std::size_t index, std::span<std::byte> scratch) {
  const auto segment = Segment(half.data, index);
  if (segment.empty()) return;
  for (const int child : half.place.children) links.ReceiveAdd(child, segment, scratch);
  if (half.place.parent >= 0) links.Send(half.place.parent, segment);
}

void Down(Links& links, const Half& half, std::size_t index) {
  const auto segment = Segment(half.data, index);
  if (segment.empty()) return;
  if (half.place.parent >= 0) links.Receive(half.place.parent, segment);
  for (const int child : half.place.children) links.Send(child, segment);
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

}  // namespace

constinit const LinkAlgorithm kTreeAlgorithm{
    .name = "tree",
    .summary = "double binary tree over Gloo's TCP transport, pipelined",
    .all_reduce = TreeAllReduce,
    .peers = DoubleTreePeers,
    .bound = TreeCost,
};

}  // namespace ringside
