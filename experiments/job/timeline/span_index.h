#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_SPAN_INDEX_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_SPAN_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ringside/experiments/job/timeline/interval_set.h"
#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {

/// Answers questions of the critical path about a timeline: which rank waited when, and for what.
/// Made once from the traces of all processes of a run.
class SpanIndex {
 public:
  struct Wait {
    Interval time;
    int bucket = 0;
  };

  SpanIndex(std::span<const ProcessTrace> traces, std::size_t ranks);

  bool empty() const { return empty_; }
  /// The waits of a rank in a step.
  const std::vector<Wait>& Waits(std::size_t rank, std::int64_t step) const;
  /// The Submit calls of a rank in a step.
  const std::vector<Wait>& Submits(std::size_t rank, std::int64_t step) const;
  /// The step whose gradient the rank waits for when it begins at `at` to wait for the bucket.
  /// Absent when the rank has not submitted the bucket.
  std::optional<std::int64_t> Awaited(std::size_t rank, int bucket, std::int64_t at) const;
  /// When the last rank submitted the bucket's gradient of a step; absent when one rank's time is
  /// unknown.
  std::optional<std::int64_t> LastSubmit(int bucket, std::int64_t step) const;
  /// When pushes of the bucket's gradients of a step were in a server's queue.
  IntervalSet ServerQueue(int bucket, std::int64_t step) const;
  /// When the rank encoded or decoded, in this step and its neighbours.
  IntervalSet Codec(std::size_t rank, std::int64_t step) const;

 private:
  using Key = std::pair<int, std::int64_t>;  // bucket, step

  struct Rank {
    std::map<std::int64_t, std::vector<Wait>> waits, submits, codec;   // by step
    std::map<int, std::map<std::int64_t, std::int64_t>> submit_steps;  // bucket -> begin -> step
  };

  void Add(const TraceSpan& span, Rank& rank);

  bool empty_ = true;
  std::vector<Rank> ranks_;
  std::map<Key, std::pair<std::size_t, std::int64_t>> submitted_;  // ranks, and the last one's time
  std::map<Key, std::vector<Interval>> server_queue_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_SPAN_INDEX_H_
