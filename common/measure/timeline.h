#ifndef RINGSIDE_COMMON_MEASURE_TIMELINE_H_
#define RINGSIDE_COMMON_MEASURE_TIMELINE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/measure/chunk_event.h"
#include "ringside/common/measure/event_buffer.h"

namespace ringside {

enum class SpanKind : std::uint8_t {
  kData,      ///< Waiting for the loader.
  kForward,   ///< The forward pass, awaits included.
  kBackward,  ///< The backward pass, submits included.
  kSubmit,    ///< Inside Submit.
  kQueue,     ///< A bucket waits to leave a worker, or for a thread of a server.
  kWire,      ///< A bucket is being sent, or summed while it is sent.
  kReduce,    ///< A gradient is added to others.
  kApply,     ///< The optimizer updates parameters.
  kAwait,     ///< Inside Await.
  kEvaluate,
  kCodec,  ///< Encoding or decoding.
};
constexpr SpanKind kLastSpanKind = SpanKind::kCodec;
const char* SpanName(SpanKind kind);

/// The threads and queues of a process. Spans of one lane may overlap.
enum TimelineLane : int {
  kComputeLane,        ///< The training thread.
  kCommunicationLane,  ///< The strategy's threads.
  kQueueLane,          ///< Buckets that wait for them.
  kServerLane,         ///< A parameter server's threads.
  kServerQueueLane,    ///< Buckets that wait for them.
  kTimelineLanes,      ///< The number of lanes.
};
std::string LaneName(int lane);

/// Which steps a timeline shows.
struct TimelineSteps {
  std::int64_t first = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();  ///< One past the last.
  std::int64_t every = 1;                                       ///< Counted from `first`.

  bool operator==(const TimelineSteps&) const = default;
  bool Show(std::int64_t step) const {
    return step >= first && step < end && (step - first) % every == 0;
  }
};

struct TimelineSpan {
  DilatedClock::time_point begin, end;
  std::int64_t step = 0;
  int bucket = -1;  ///< -1: a whole step.
  int lane = 0;
  SpanKind kind = SpanKind::kData;
};

/// How many events of each kind a timeline has room for.
struct TimelineCapacity {
  std::size_t spans = 0;
  std::size_t chunks = 0;
};

/// Spans and chunks of one process. They stay in memory until they are taken, outside the hot path.
/// Off by default; then an event costs one branch. Adding is thread-safe and lock-free. Events
/// beyond the capacity are counted and dropped.
class Timeline {
 public:
  using Clock = DilatedClock;

  /// A disabled timeline.
  Timeline() = default;
  /// Makes room for events, 48 bytes for a span and 96 for a chunk, and chooses the steps to show.
  /// For the step before a shown one, it also keeps what happened to a gradient after Submit,
  /// because the shown step waits for that gradient.
  explicit Timeline(const TimelineCapacity& capacity, const TimelineSteps& steps = {});

  bool enabled() const { return spans_.capacity() > 0; }
  void Add(SpanKind kind, Clock::time_point begin, Clock::time_point end, std::int64_t step,
           int bucket, int lane);
  void AddChunk(const ChunkEvent& chunk);

  /// As `EventBuffer::Take`; one thread at a time for both.
  std::vector<TimelineSpan> Take(std::size_t max = std::numeric_limits<std::size_t>::max()) {
    return spans_.Take(max);
  }
  std::vector<ChunkEvent> TakeChunks(std::size_t max = std::numeric_limits<std::size_t>::max()) {
    return chunks_.Take(max);
  }
  std::size_t dropped() const { return spans_.dropped(); }
  std::size_t dropped_chunks() const { return chunks_.dropped(); }

 private:
  TimelineSteps steps_;
  EventBuffer<TimelineSpan> spans_;
  EventBuffer<ChunkEvent> chunks_;
};

/// Adds a span that lasts from construction to destruction.
class ScopedSpan {
 public:
  ScopedSpan(Timeline& timeline, SpanKind kind, std::int64_t step, int bucket = -1,
             int lane = kComputeLane)
      : timeline_(timeline), kind_(kind), step_(step), bucket_(bucket), lane_(lane) {
    if (timeline_.enabled()) begin_ = Timeline::Clock::now();
  }
  ~ScopedSpan() {
    if (timeline_.enabled())
      timeline_.Add(kind_, begin_, Timeline::Clock::now(), step_, bucket_, lane_);
  }
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;

 private:
  Timeline& timeline_;
  Timeline::Clock::time_point begin_;
  SpanKind kind_;
  std::int64_t step_;
  int bucket_;
  int lane_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_TIMELINE_H_
