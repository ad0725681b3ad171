#include "ringside/common/measure/timeline.h"

#include <algorithm>

namespace ringside {
namespace {

/// Whether the span belongs to the way of a gradient from Submit to the updated parameters.
bool IsOfGradient(SpanKind kind) {
  switch (kind) {
    case SpanKind::kSubmit:
    case SpanKind::kQueue:
    case SpanKind::kWire:
    case SpanKind::kReduce:
    case SpanKind::kApply:
    case SpanKind::kCodec:
      return true;
    default:
      return false;
  }
}

}  // namespace

const char* SpanName(SpanKind kind) {
  switch (kind) {
    case SpanKind::kData:
      return "data";
    case SpanKind::kForward:
      return "forward";
    case SpanKind::kBackward:
      return "backward";
    case SpanKind::kSubmit:
      return "submit";
    case SpanKind::kQueue:
      return "queue";
    case SpanKind::kWire:
      return "wire";
    case SpanKind::kReduce:
      return "reduce";
    case SpanKind::kApply:
      return "apply";
    case SpanKind::kAwait:
      return "await";
    case SpanKind::kEvaluate:
      return "evaluate";
    case SpanKind::kCodec:
      return "codec";
  }
  return "unknown";
}

std::string LaneName(int lane) {
  switch (lane) {
    case kComputeLane:
      return "compute";
    case kCommunicationLane:
      return "communication";
    case kQueueLane:
      return "queue";
    case kServerLane:
      return "server";
    case kServerQueueLane:
      return "server queue";
    default:
      return "lane " + std::to_string(lane);
  }
}

Timeline::Timeline(std::size_t capacity, const TimelineSteps& steps)
    : capacity_(capacity), steps_(steps), slots_(std::make_unique<Slot[]>(capacity)) {}

bool Timeline::Shown(SpanKind kind, std::int64_t step) const {
  return steps_.Show(step) || (IsOfGradient(kind) && steps_.Show(step + 1));
}

void Timeline::Add(SpanKind kind, Clock::time_point begin, Clock::time_point end, std::int64_t step,
                   int bucket, int lane) {
  if (!enabled() || !Shown(kind, step)) return;
  const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
  if (index >= capacity_) return;
  Slot& slot = slots_[index];
  slot.span = {begin, end, step, bucket, lane, kind};
  slot.written.store(true, std::memory_order_release);
}

std::vector<TimelineSpan> Timeline::Take(std::size_t max) {
  std::vector<TimelineSpan> spans;
  const std::size_t end = std::min(next_.load(std::memory_order_relaxed), capacity_);
  for (; taken_ < end && spans.size() < max; ++taken_) {
    const Slot& slot = slots_[taken_];
    if (!slot.written.load(std::memory_order_acquire)) break;
    spans.push_back(slot.span);
  }
  return spans;
}

std::size_t Timeline::dropped() const {
  const std::size_t claimed = next_.load(std::memory_order_relaxed);
  return claimed > capacity_ ? claimed - capacity_ : 0;
}

}  // namespace ringside
