#include "ringside/experiments/worker/timeline_sender.h"

#include <algorithm>
#include <chrono>

#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {
namespace {

// The limit for all processes together. It makes a trace of 70 MB or less, which viewers open.
constexpr std::size_t kSpansOfRun = std::size_t{1} << 19;
constexpr std::size_t kMostSpans = std::size_t{1} << 18;
constexpr std::size_t kFewestSpans = std::size_t{1} << 12;
constexpr std::size_t kSpansPerPiece = std::size_t{1} << 15;  // 1 MiB
// The heartbeat's thread sends, and its lease is five seconds.
constexpr std::chrono::milliseconds kSendTimeout{1'000};

std::unique_ptr<Timeline> MakeTimeline(const RunSpec& spec) {
  if (!spec.timeline) return std::make_unique<Timeline>();
  const auto processes =
      static_cast<std::size_t>(spec.workers) + static_cast<std::size_t>(spec.servers);
  return std::make_unique<Timeline>(std::clamp(kSpansOfRun / processes, kFewestSpans, kMostSpans),
                                    spec.timeline_steps);
}

}  // namespace

TimelineSender::TimelineSender(CoordinatorClient& client, const RunSpec& spec)
    : client_(client), timeline_(MakeTimeline(spec)) {}

void TimelineSender::ReadClock() noexcept {
  if (!timeline_->enabled()) return;
  try {
    const ClockReading reading = client_.ReadClock();
    const std::lock_guard lock(mutex_);
    readings_.push_back(reading);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The run goes on; the trace lists the other readings.
  }
}

void TimelineSender::Send() noexcept {
  if (!timeline_->enabled()) return;
  const std::lock_guard lock(mutex_);
  std::vector<TimelineSpan> spans;
  do {
    spans = timeline_->Take(kSpansPerPiece);
    if (spans.empty() && readings_.empty() && timeline_->dropped() + lost_ == told_dropped_) return;
    try {
      SendPiece(spans);
    } catch (const std::exception&) {
      // The run goes on; the next piece carries this count to the trace.
      lost_ += spans.size();
      return;
    }
  } while (spans.size() == kSpansPerPiece);
}

void TimelineSender::SendPiece(const std::vector<TimelineSpan>& spans) {
  const std::size_t dropped = timeline_->dropped() + lost_;
  client_.SubmitTrace({PackSpans(spans), dropped, readings_}, Deadline::After(kSendTimeout));
  told_dropped_ = dropped;
  readings_.clear();
}

}  // namespace ringside
