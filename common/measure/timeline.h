#ifndef RINGSIDE_COMMON_MEASURE_TIMELINE_H_
#define RINGSIDE_COMMON_MEASURE_TIMELINE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

enum class SpanKind : std::uint8_t {
  kData,
  kForward,
  kBackward,
  kSubmit,
  kQueue,
  kWire,
  kReduce,
  kApply,
  kAwait,
  kEvaluate,
  kCodec,
};
const char* SpanName(SpanKind kind);

/// Spans of one process, kept in memory and written out after the run. Off by default and then one
/// branch a span. `Add` is thread-safe and lock-free: slots are claimed by an atomic counter; spans
/// past the capacity are counted and dropped.
class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Disabled.
  Timeline() = default;
  /// Room for `capacity` spans, 40 bytes each.
  explicit Timeline(std::size_t capacity);

  bool enabled() const { return !spans_.empty(); }
  /// `bucket` is -1 for spans of a whole step; `lane` tells threads of a process apart (0: compute,
  /// 1: communication).
  void Add(SpanKind kind, Clock::time_point begin, Clock::time_point end, std::int64_t step,
           int bucket, int lane);

  std::size_t dropped() const;
  /// Chrome trace format (https://ui.perfetto.dev opens it): one JSON object with `traceEvents`,
  /// times in microseconds of the steady clock, which all processes of a host share. `process`
  /// names it ("worker 0"), `process_id` sorts it. Call it when no thread adds spans any more.
  std::string ChromeTrace(const std::string& process, int process_id) const;

 private:
  struct Span {
    Clock::time_point begin, end;
    std::int64_t step;
    std::int32_t bucket;
    std::int16_t lane;
    SpanKind kind;
  };

  static std::string Event(const Span& span, int process_id);

  std::vector<Span> spans_;
  std::atomic<std::size_t> next_{0};
};

/// Adds a span from construction to destruction.
class ScopedSpan {
 public:
  ScopedSpan(Timeline& timeline, SpanKind kind, std::int64_t step, int bucket = -1, int lane = 0)
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
