#include "ringside/experiments/job/timeline/process_trace.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <limits>

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little, "spans are sent as they are in memory");

struct Packed {
  std::int64_t begin;
  std::int64_t duration;
  std::int64_t step;
  std::int32_t bucket;
  std::int16_t lane;
  std::int16_t kind;
};
static_assert(sizeof(Packed) == 32);

std::int64_t Nanoseconds(Timeline::Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

bool IsSpan(const Packed& packed) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  return packed.kind >= 0 && packed.kind <= static_cast<int>(kLastSpanKind) && packed.lane >= 0 &&
         packed.lane < kTimelineLanes && packed.bucket >= -1 && packed.duration >= 0 &&
         packed.duration <= kMostClockNanoseconds && packed.begin >= 0 &&
         packed.begin <= kMostClockNanoseconds && packed.step >= -kMost && packed.step <= kMost;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> ProcessTrace::covered_steps() const {
  if (spans.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(spans, {}, &TraceSpan::step);
  const std::int64_t end = dropped > 0 ? last.step - 1 : last.step;
  if (end < first.step) return std::nullopt;
  return std::pair(first.step, end);
}

std::string PackSpans(const std::vector<TimelineSpan>& spans) {
  std::string packed(spans.size() * sizeof(Packed), '\0');
  char* out = packed.data();
  for (const TimelineSpan& span : spans) {
    const Packed row{Nanoseconds(span.begin.time_since_epoch()),
                     Nanoseconds(span.end - span.begin),
                     span.step,
                     span.bucket,
                     static_cast<std::int16_t>(span.lane),
                     static_cast<std::int16_t>(span.kind)};
    std::memcpy(out, &row, sizeof(row));
    out += sizeof(row);
  }
  return packed;
}

std::vector<TraceSpan> UnpackSpans(std::string_view packed, const ClockCorrection& clock) {
  std::vector<TraceSpan> spans;
  spans.reserve(packed.size() / sizeof(Packed));
  for (; packed.size() >= sizeof(Packed); packed.remove_prefix(sizeof(Packed))) {
    Packed row;
    std::memcpy(&row, packed.data(), sizeof(row));
    if (!IsSpan(row)) continue;
    const std::int64_t begin = clock.ToCoordinator(row.begin);
    spans.push_back({begin, begin + row.duration, row.step, row.bucket, row.lane,
                     static_cast<SpanKind>(row.kind)});
  }
  return spans;
}

}  // namespace ringside
