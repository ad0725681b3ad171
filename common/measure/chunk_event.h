#ifndef RINGSIDE_COMMON_MEASURE_CHUNK_EVENT_H_
#define RINGSIDE_COMMON_MEASURE_CHUNK_EVENT_H_

#include <cstddef>
#include <cstdint>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {

/// What a chunk is sent for.
enum class ChunkPhase : std::uint8_t {
  kReduceScatter,  ///< The receiver adds it to its own chunk. Each rank ends with one sum.
  kAllGather,      ///< A finished sum is passed on.
  kReduce,         ///< The receiver adds it; the sums end on one rank.
  kBroadcast,      ///< A finished sum goes from that rank to the others.
  kExchange,       ///< Two ranks send each other the same range, and both add.
  kGather,         ///< Every rank gets every rank's encoded gradient.
  kPush,           ///< A gradient goes from a worker to a server.
  kPull,           ///< Parameters go from a server to a worker.
  kSlice,          ///< A worker sums its slice of all gradients in shared memory.
};
constexpr ChunkPhase kLastChunkPhase = ChunkPhase::kSlice;
const char* ChunkPhaseName(ChunkPhase phase);

/// What the process that recorded an event did with the chunk.
enum class ChunkAction : std::uint8_t {
  kSend,
  kReceive,
  kUpdate,  ///< It updated the parameters of the chunk, with or without sending it.
};
constexpr ChunkAction kLastChunkAction = ChunkAction::kUpdate;
const char* ChunkActionName(ChunkAction action);

/// What one process did with a chunk. A chunk is a range of a bucket that crosses a link as one. In
/// a ring it is one rank's part of the bucket, whose segments are counted together.
struct ChunkEvent {
  /// kSend: until the transport has taken the bytes. kReceive in a ring: since the rank waited for
  /// it; of parameters: since the gradient was sent; at a server: from
  /// its arrival until the shard takes it. kUpdate:
  /// the sum and the optimizer.
  DilatedClock::time_point begin{}, end{};
  std::int64_t step = 0;
  std::uint64_t offset = kUnknown;  ///< Of the first element in the flat vectors.
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;      ///< On the wire, without headers.
  std::int64_t version = -1;    ///< Of the parameters that a gradient is of, or that are sent.
  std::int64_t staleness = -1;  ///< kPull: updates between the two versions.
  std::int32_t bucket = -1;
  std::int32_t piece = -1;   ///< The slice of the plan of servers; -1: no servers.
  std::int32_t server = -1;  ///< The server that recorded it; -1: the worker.
  /// The other end: of a server and of a ring the worker, of a worker with servers the server.
  /// kUpdate of a server: the worker whose push was the last one. -1: none.
  std::int32_t peer = -1;
  ChunkPhase phase = ChunkPhase::kPush;
  ChunkAction action = ChunkAction::kSend;

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
};

static_assert(sizeof(ChunkEvent) == 88);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_CHUNK_EVENT_H_
