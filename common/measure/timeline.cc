#include "ringside/common/measure/timeline.h"

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

/// A shown step waits for the gradients of the step before it.
bool ShowsGradient(const TimelineSteps& steps, std::int64_t step) {
  return steps.Show(step) || steps.Show(step + 1);
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

Timeline::Timeline(const TimelineCapacity& capacity, const TimelineSteps& steps)
    : steps_(steps), spans_(capacity.spans), chunks_(capacity.chunks) {}

void Timeline::Add(SpanKind kind, Clock::time_point begin, Clock::time_point end, std::int64_t step,
                   int bucket, int lane) {
  if (!enabled()) return;
  if (!(IsOfGradient(kind) ? ShowsGradient(steps_, step) : steps_.Show(step))) return;
  spans_.Add({begin, end, step, bucket, lane, kind});
}

void Timeline::AddChunk(const ChunkEvent& chunk) {
  if (enabled() && ShowsGradient(steps_, chunk.step)) chunks_.Add(chunk);
}

}  // namespace ringside
