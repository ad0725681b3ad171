#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_PROCESS_TRACE_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_PROCESS_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/measure/timeline.h"
#include "ringside/experiments/job/coordinator/clock_offset.h"
#include "ringside/experiments/job/timeline/chunk_trace.h"

namespace ringside {

/// A span on the coordinator's clock, in nanoseconds.
struct TraceSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 0;
  int bucket = -1;  ///< -1: of a whole step.
  int lane = 0;
  SpanKind kind = SpanKind::kData;
};

/// The timeline that one process sent: all of it, or the part before the process died.
struct ProcessTrace {
  std::string name;  ///< "worker 0"
  int id = 0;        ///< Sorts processes.
  int rank = -1;     ///< Rank of a worker.
  std::string host;  ///< Where it ran; empty: it never joined.
  std::vector<TraceSpan> spans;
  std::vector<TraceChunk> chunks;
  std::uint64_t dropped = 0;  ///< Spans that were dropped for lack of room; always the last ones.
  std::uint64_t dropped_chunks = 0;
  ClockCorrection clock;

  /// The first and the last step without a dropped span; absent when there is no such step.
  std::optional<std::pair<std::int64_t, std::int64_t>> covered_steps() const;
};

/// Packs spans for the coordinator: 32 bytes each, little-endian, with times of the member's clock.
std::string PackSpans(const std::vector<TimelineSpan>& spans);
/// Unpacks spans and converts their times with `clock`. Leaves out spans with an unknown kind or
/// lane, with an end before the begin, with a step or a time that no run has, or cut off at the
/// end.
std::vector<TraceSpan> UnpackSpans(std::string_view packed, const ClockCorrection& clock);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_PROCESS_TRACE_H_
