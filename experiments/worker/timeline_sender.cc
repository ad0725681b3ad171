#include "ringside/experiments/worker/timeline_sender.h"

#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {
namespace {

constexpr std::size_t kSpansPerPiece = std::size_t{1} << 14;   // 0.5 MiB
constexpr std::size_t kChunksPerPiece = std::size_t{1} << 12;  // 0.35 MiB
constexpr std::chrono::seconds kPieceTimeout{1};
// A heartbeat waits for it, so it is a small part of a lease.
constexpr std::chrono::seconds kBeforeABeat{1};
constexpr std::chrono::seconds kAtTheEnd{10};

std::unique_ptr<Timeline> MakeTimeline(const RunSpec& spec) {
  if (!spec.timeline) return std::make_unique<Timeline>();
  const auto processes =
      static_cast<std::size_t>(spec.workers) + static_cast<std::size_t>(spec.servers);
  return std::make_unique<Timeline>(TimelineCapacity{.spans = kRecordOfRun.spans / processes,
                                                     .chunks = kRecordOfRun.chunks / processes},
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

void TimelineSender::SendSome() noexcept {
  if (!timeline_->enabled()) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) SendUntil(Deadline::After(kBeforeABeat));
}

void TimelineSender::SendRest() noexcept {
  if (!timeline_->enabled()) return;
  const std::lock_guard lock(mutex_);
  SendUntil(Deadline::After(kAtTheEnd));
  lost_.spans += timeline_->Take().size();
  lost_.chunks += timeline_->TakeChunks().size();
  SendPiece();  // the count alone
}

void TimelineSender::SendUntil(const Deadline& deadline) {
  while (SendPiece() && !deadline.expired()) {
  }
}

bool TimelineSender::SendPiece() {
  const std::vector<TimelineSpan> spans = timeline_->Take(kSpansPerPiece);
  const std::vector<ChunkEvent> chunks = timeline_->TakeChunks(kChunksPerPiece);
  const Dropped dropped{timeline_->dropped() + lost_.spans,
                        timeline_->dropped_chunks() + lost_.chunks};
  if (spans.empty() && chunks.empty() && readings_.empty() && dropped == told_) return false;
  try {
    client_.SubmitTrace(
        {PackSpans(spans), dropped.spans, readings_, PackChunks(chunks), dropped.chunks},
        Deadline::After(kPieceTimeout));
  } catch (const std::exception&) {
    // The run goes on; the next piece carries this count to the trace.
    lost_.spans += spans.size();
    lost_.chunks += chunks.size();
    return false;
  }
  told_ = dropped;
  readings_.clear();
  // Events may come as fast as they are sent, and heartbeats wait for this thread.
  return spans.size() == kSpansPerPiece || chunks.size() == kChunksPerPiece;
}

}  // namespace ringside
