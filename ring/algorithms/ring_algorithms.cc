// Steps and bytes. The data is cut into N chunks. In step t rank r sends chunk r-t to its right
// neighbour and receives chunk r-t-1 from its left one (all modulo N). In the first N-1 steps
// (reduce-scatter) a rank adds the received chunk to its own. In the next N-1 steps (all-gather)
// the received chunk replaces its own. Together 2(N-1) steps and 2(N-1)/N of the data in each
// direction.
//
// Chunks are sent in segments, which are numbered through all steps. A chunk has S segments, and
// segment k can be sent when segment k - S has been received. Sending runs up to `SegmentsAhead`
// segments ahead of receiving, also from one step to the next. So the link stays busy while this
// rank adds.
#include "ringside/ring/algorithms/ring_algorithms.h"

namespace ringside {
namespace {

/// The data that the ring sends: `world` chunks, which are cut at multiples of `element_bytes`.
struct Rotation {
  std::span<std::byte> data;
  std::size_t element_bytes = 1;
  int rank = 0;
  int world = 1;
  int steps = 0;                                  ///< Number of all steps.
  int reducing_steps = 0;                         ///< Number of steps that add: the first ones.
  ChunkPhase gathering = ChunkPhase::kAllGather;  ///< What the other steps are for.

  std::size_t ChunkBegin(std::size_t chunk) const {
    const std::size_t elements = data.size() / element_bytes;
    return elements * chunk / static_cast<std::size_t>(world) * element_bytes;
  }
  /// Returns chunk `rank - back`.
  std::span<std::byte> Chunk(std::size_t back) const {
    const auto count = static_cast<std::size_t>(world);
    const std::size_t chunk = (static_cast<std::size_t>(rank) + 2 * count - back) % count;
    const std::size_t begin = ChunkBegin(chunk);
    return data.subspan(begin, ChunkBegin(chunk + 1) - begin);
  }
  bool Adds(std::size_t step) const { return step < static_cast<std::size_t>(reducing_steps); }
  ChunkPhase PhaseOf(std::size_t step) const {
    return Adds(step) ? ChunkPhase::kReduceScatter : gathering;
  }
  std::size_t SegmentsPerChunk() const {
    const std::size_t elements = data.size() / element_bytes;
    const auto count = static_cast<std::size_t>(world);
    return SegmentCount((elements + count - 1) / count * element_bytes);
  }
};

void SendSegment(Links& links, const Rotation& rotation, std::size_t step, std::size_t index) {
  const auto segment = Segment(rotation.Chunk(step), index);
  if (segment.empty()) return;
  links.Send((rotation.rank + 1) % rotation.world, segment, rotation.PhaseOf(step));
}

void ReceiveSegment(Links& links, const Rotation& rotation, std::size_t step, std::size_t index,
                    std::span<std::byte> scratch) {
  const auto segment = Segment(rotation.Chunk(step + 1), index);
  if (segment.empty()) return;
  const int left = (rotation.rank + rotation.world - 1) % rotation.world;
  if (rotation.Adds(step)) {
    links.ReceiveAdd(left, segment, scratch, rotation.PhaseOf(step));
  } else {
    links.Receive(left, segment, rotation.PhaseOf(step));
  }
}

void Rotate(Links& links, const Rotation& rotation, std::span<std::byte> scratch) {
  const std::size_t per_chunk = rotation.SegmentsPerChunk();
  if (per_chunk == 0) return;
  const std::size_t total = per_chunk * static_cast<std::size_t>(rotation.steps);
  const std::size_t ahead = std::min(per_chunk - 1, SegmentsAhead(links));
  for (std::size_t k = 0; k < total + ahead; ++k) {
    if (k < total) SendSegment(links, rotation, k / per_chunk, k % per_chunk);
    if (k < ahead) continue;
    const std::size_t received = k - ahead;
    ReceiveSegment(links, rotation, received / per_chunk, received % per_chunk, scratch);
  }
}

void RingAllReduce(Links& links, int rank, int world, std::span<float> data,
                   std::span<std::byte> scratch) {
  Rotate(links,
         {.data = std::as_writable_bytes(data),
          .element_bytes = links.element_bytes(),
          .rank = rank,
          .world = world,
          .steps = 2 * (world - 1),
          .reducing_steps = world - 1},
         scratch);
}

}  // namespace

constinit const LinkAlgorithm kRingAlgorithm{
    .name = "ring",
    .summary = "ring all-reduce over Gloo's TCP transport, pipelined",
    .all_reduce = RingAllReduce,
    .peers = RingPeers,
    .topology = Topology::kRing,
    .bound = RingCost,
};

std::vector<int> RingPeers(int rank, int world) {
  return {(rank + 1) % world, (rank + world - 1) % world};
}

void RingAllGather(Links& links, int rank, int world, std::span<std::byte> blocks) {
  Rotate(links,
         {.data = blocks,
          .element_bytes = 1,
          .rank = rank,
          .world = world,
          .steps = world - 1,
          .reducing_steps = 0,
          .gathering = ChunkPhase::kGather},
         {});
}

void RingBroadcast(Links& links, int rank, int world, int root, std::span<std::byte> data) {
  const int right = (rank + 1) % world;
  const int left = (rank + world - 1) % world;
  for (std::size_t i = 0; i < SegmentCount(data.size()); ++i) {
    const auto segment = Segment(data, i);
    if (rank != root) links.Receive(left, segment, ChunkPhase::kBroadcast);
    if (right != root) links.Send(right, segment, ChunkPhase::kBroadcast);
  }
}

}  // namespace ringside
