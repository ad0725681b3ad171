#include "ringside/experiments/job/timeline/span_index.h"

#include <algorithm>
#include <iterator>

namespace ringside {
namespace {

const std::vector<SpanIndex::Wait> kNothing;

const std::vector<SpanIndex::Wait>& Find(
    const std::map<std::int64_t, std::vector<SpanIndex::Wait>>& by_step, std::int64_t step) {
  const auto found = by_step.find(step);
  return found == by_step.end() ? kNothing : found->second;
}

}  // namespace

SpanIndex::SpanIndex(std::span<const ProcessTrace> traces, std::size_t ranks) : ranks_(ranks) {
  for (const ProcessTrace& trace : traces) {
    const bool worker = trace.rank >= 0 && static_cast<std::size_t>(trace.rank) < ranks;
    for (const TraceSpan& span : trace.spans) {
      if (span.lane == kServerQueueLane) {
        server_queue_[{span.bucket, span.step}].push_back({span.begin, span.end});
      } else if (worker && span.lane != kServerLane) {
        Add(span, ranks_[static_cast<std::size_t>(trace.rank)]);
      }
    }
  }
}

void SpanIndex::Add(const TraceSpan& span, Rank& rank) {
  const Wait wait{{span.begin, span.end}, span.bucket};
  if (span.kind == SpanKind::kAwait) {
    empty_ = false;
    rank.waits[span.step].push_back(wait);
  } else if (span.kind == SpanKind::kSubmit) {
    rank.submits[span.step].push_back(wait);
    rank.submit_steps[span.bucket][span.begin] = span.step;
    auto& [count, last] = submitted_[{span.bucket, span.step}];
    last = count == 0 ? span.begin : std::max(last, span.begin);
    ++count;
  } else if (span.kind == SpanKind::kCodec) {
    rank.codec[span.step].push_back(wait);
  }
}

const std::vector<SpanIndex::Wait>& SpanIndex::Waits(std::size_t rank, std::int64_t step) const {
  return Find(ranks_[rank].waits, step);
}

const std::vector<SpanIndex::Wait>& SpanIndex::Submits(std::size_t rank, std::int64_t step) const {
  return Find(ranks_[rank].submits, step);
}

std::optional<std::int64_t> SpanIndex::Awaited(std::size_t rank, int bucket,
                                               std::int64_t at) const {
  const auto found = ranks_[rank].submit_steps.find(bucket);
  if (found == ranks_[rank].submit_steps.end()) return std::nullopt;
  const auto after = found->second.upper_bound(at);
  if (after == found->second.begin()) return std::nullopt;
  return std::prev(after)->second;
}

std::optional<std::int64_t> SpanIndex::LastSubmit(int bucket, std::int64_t step) const {
  const auto found = submitted_.find({bucket, step});
  if (found == submitted_.end() || found->second.first != ranks_.size()) return std::nullopt;
  return found->second.second;
}

IntervalSet SpanIndex::ServerQueue(int bucket, std::int64_t step) const {
  IntervalSet queue;
  const auto found = server_queue_.find({bucket, step});
  if (found == server_queue_.end()) return queue;
  for (const Interval& interval : found->second) queue.Add(interval);
  return queue;
}

// A step waits for gradients of the step before. They were encoded and decoded in these two steps.
IntervalSet SpanIndex::Codec(std::size_t rank, std::int64_t step) const {
  IntervalSet codec;
  for (const std::int64_t near : {step - 1, step}) {
    for (const Wait& wait : Find(ranks_[rank].codec, near)) codec.Add(wait.time);
  }
  return codec;
}

}  // namespace ringside
