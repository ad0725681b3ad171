#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_TRACE_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/measure/chunk_event.h"
#include "ringside/experiments/job/coordinator/clock_offset.h"

namespace ringside {

/// No run has as many workers or servers.
inline constexpr int kMostNodes = 1 << 16;

/// A `ChunkEvent` on the coordinator's clock, in nanoseconds.
struct TraceChunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 0;
  std::optional<std::uint64_t> offset = {};  ///< In the flat vectors, in elements; absent: unknown.
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  std::int64_t version = -1;
  std::int64_t staleness = -1;
  int bucket = -1;
  int piece = -1;
  int server = -1;
  int peer = -1;
  ChunkPhase phase = ChunkPhase::kPush;
  ChunkAction action = ChunkAction::kSend;

  bool operator==(const TraceChunk&) const = default;
};

/// Packs chunks for the coordinator: 88 bytes each, little-endian, with times of the member's
/// clock.
std::string PackChunks(const std::vector<ChunkEvent>& chunks);
/// Unpacks chunks and converts their times with `clock`. Leaves out what no process records: an
/// unknown phase or action, an end before the begin, numbers that no run has, a part of a chunk at
/// the end.
std::vector<TraceChunk> UnpackChunks(std::string_view packed, const ClockCorrection& clock);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_TRACE_H_
