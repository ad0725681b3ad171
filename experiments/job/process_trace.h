#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESS_TRACE_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESS_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/measure/timeline.h"
#include "experiments/job/clock_offset.h"

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

/// What one process handed in of its timeline, all of it or what came before it died.
struct ProcessTrace {
  std::string name;  ///< "worker 0"
  int id = 0;        ///< Sorts processes.
  int rank = -1;     ///< Of a worker.
  std::vector<TraceSpan> spans;
  std::uint64_t dropped = 0;  ///< Spans that found no room: the last ones.
  ClockCorrection clock;

  /// The first and the last step of which no span was dropped; none when there is none.
  std::optional<std::pair<std::int64_t, std::int64_t>> covered_steps() const;
};

/// Spans as they travel to the coordinator: 32 bytes each, little-endian, times of the member's own
/// clock.
std::string PackSpans(const std::vector<TimelineSpan>& spans);
/// Leaves out what is no span: an unknown kind or lane, an end before its begin, a torn end.
std::vector<TraceSpan> UnpackSpans(std::string_view packed, const ClockCorrection& clock);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESS_TRACE_H_
