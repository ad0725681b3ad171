#include "ringside/experiments/job/timeline/chunk_trace.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <limits>

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "chunks are sent as they are in memory");

struct Packed {
  std::int64_t begin;
  std::int64_t duration;
  std::int64_t step;
  std::uint64_t offset;
  std::uint64_t elements;
  std::uint64_t bytes;
  std::int64_t version;
  std::int64_t staleness;
  std::int32_t bucket;
  std::int32_t piece;
  std::int32_t server;
  std::int32_t peer;
  std::int32_t phase;
  std::int32_t action;
};
static_assert(sizeof(Packed) == 88);

std::int64_t Nanoseconds(DilatedClock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

bool IsChunk(const Packed& packed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  constexpr std::int64_t kLeast = -1;
  const auto within = [](std::int64_t value, std::int64_t least) {
    return value >= least && value <= kMost;
  };
  const auto time = [](std::int64_t value) { return value >= 0 && value <= kMostClockNanoseconds; };
  const auto size = [](std::uint64_t value) { return value <= static_cast<std::uint64_t>(kMost); };
  return packed.phase >= 0 && packed.phase <= static_cast<int>(kLastChunkPhase) &&
         packed.action >= 0 && packed.action <= static_cast<int>(kLastChunkAction) &&
         time(packed.begin) && time(packed.duration) && within(packed.step, -kMost) &&
         within(packed.version, kLeast) && within(packed.staleness, kLeast) &&
         (size(packed.offset) || packed.offset == ChunkEvent::kUnknown) && size(packed.elements) &&
         size(packed.bytes) && packed.bucket >= -1 && packed.piece >= -1 && packed.server >= -1 &&
         packed.server < kMostNodes && packed.peer >= -1 && packed.peer < kMostNodes;
}

TraceChunk Unpacked(const Packed& row, const ClockCorrection& clock) {
  TraceChunk chunk;
  chunk.begin = clock.ToCoordinator(row.begin);
  chunk.end = chunk.begin + row.duration;
  chunk.step = row.step;
  if (row.offset != ChunkEvent::kUnknown) chunk.offset = row.offset;
  chunk.elements = row.elements;
  chunk.bytes = row.bytes;
  chunk.version = row.version;
  chunk.staleness = row.staleness;
  chunk.bucket = row.bucket;
  chunk.piece = row.piece;
  chunk.server = row.server;
  chunk.peer = row.peer;
  chunk.phase = static_cast<ChunkPhase>(row.phase);
  chunk.action = static_cast<ChunkAction>(row.action);
  return chunk;
}

}  // namespace

std::string PackChunks(const std::vector<ChunkEvent>& chunks) {
  std::string packed(chunks.size() * sizeof(Packed), '\0');
  char* out = packed.data();
  for (const ChunkEvent& chunk : chunks) {
    const Packed row{.begin = Nanoseconds(chunk.begin.time_since_epoch()),
                     .duration = Nanoseconds(chunk.end - chunk.begin),
                     .step = chunk.step,
                     .offset = chunk.offset,
                     .elements = chunk.elements,
                     .bytes = chunk.bytes,
                     .version = chunk.version,
                     .staleness = chunk.staleness,
                     .bucket = chunk.bucket,
                     .piece = chunk.piece,
                     .server = chunk.server,
                     .peer = chunk.peer,
                     .phase = static_cast<std::int32_t>(chunk.phase),
                     .action = static_cast<std::int32_t>(chunk.action)};
    std::memcpy(out, &row, sizeof(row));
    out += sizeof(row);
  }
  return packed;
}

std::vector<TraceChunk> UnpackChunks(std::string_view packed, const ClockCorrection& clock) {
  std::vector<TraceChunk> chunks;
  chunks.reserve(packed.size() / sizeof(Packed));
  for (; packed.size() >= sizeof(Packed); packed.remove_prefix(sizeof(Packed))) {
    Packed row;
    std::memcpy(&row, packed.data(), sizeof(row));
    if (IsChunk(row)) chunks.push_back(Unpacked(row, clock));
  }
  return chunks;
}

}  // namespace ringside
