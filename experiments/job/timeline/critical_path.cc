#include "ringside/experiments/job/timeline/critical_path.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ringside/experiments/job/timeline/interval_set.h"
#include "ringside/experiments/job/timeline/span_index.h"
#include "ringside/experiments/statistics/step_statistics.h"

namespace ringside {
namespace {

using nlohmann::json;

// Spans and records use the same clock readings, so a larger difference means that spans are
// missing.
constexpr double kMissingMs = 0.01;
constexpr double kMissingShare = 0.01;

double Milliseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

/// How a rank's waiting in one step divides up.
struct Split {
  double straggler_ms = 0;
  double queue_ms = 0;
  double codec_ms = 0;
};

class PathMaker {
 public:
  explicit PathMaker(const CriticalPathInput& input)
      : input_(input), index_(input.traces, input.ranks.size()) {
    steps_ = input.ranks.empty() ? 0 : input.ranks.front().size();
    for (const auto& rank : input.ranks) steps_ = std::min(steps_, rank.size());
  }

  std::vector<CriticalStep> Make() {
    std::vector<CriticalStep> path;
    for (std::size_t row = 0; row < steps_; ++row) path.push_back(MakeStep(row));
    return path;
  }

 private:
  const StepRecord& Record(std::size_t rank, std::size_t row) const {
    return input_.ranks[rank][row];
  }

  double Mean(std::size_t row, double StepRecord::*value) const {
    double sum = 0;
    for (const auto& rank : input_.ranks) sum += rank[row].*value;
    return sum / static_cast<double>(input_.ranks.size());
  }

  CriticalStep MakeStep(std::size_t row) {
    CriticalStep step;
    step.step = Record(0, row).step;
    step.step_ms = Mean(row, &StepRecord::step_ms);
    step.compute_ms = Mean(row, &StepRecord::compute_ms);
    step.data_ms = Mean(row, &StepRecord::data_ms);
    const double comm_ms =
        Mean(row, &StepRecord::exposed_comm_ms) + Mean(row, &StepRecord::submit_ms);
    step.other_ms = step.step_ms - step.compute_ms - step.data_ms - comm_ms;
    if (!FromTimeline(row, step)) FromRecords(row, step);
    step.exposed_comm_ms = comm_ms - step.straggler_wait_ms.value_or(0) -
                           step.server_queue_ms.value_or(0) - step.codec_ms.value_or(0);
    return step;
  }

  void FromRecords(std::size_t row, CriticalStep& step) const {
    if (!input_.servers) step.server_queue_ms = 0;
    if (!input_.codec) step.codec_ms = 0;
    if (!input_.synchronous) return;
    double least = Record(0, row).exposed_comm_ms;
    for (const auto& rank : input_.ranks) least = std::min(least, rank[row].exposed_comm_ms);
    step.straggler_wait_ms = Mean(row, &StepRecord::exposed_comm_ms) - least;
  }

  bool FromTimeline(std::size_t row, CriticalStep& step) {
    if (index_.empty()) return false;
    Split sum;
    for (std::size_t rank = 0; rank < input_.ranks.size(); ++rank) {
      const auto split = SplitOf(rank, Record(rank, row));
      if (!split) return false;
      sum.straggler_ms += split->straggler_ms;
      sum.queue_ms += split->queue_ms;
      sum.codec_ms += split->codec_ms;
    }
    const auto ranks = static_cast<double>(input_.ranks.size());
    if (input_.synchronous) step.straggler_wait_ms = sum.straggler_ms / ranks;
    step.server_queue_ms = sum.queue_ms / ranks;
    step.codec_ms = sum.codec_ms / ranks;
    step.from_timeline = true;
    return true;
  }

  static bool AllThere(const std::vector<SpanIndex::Wait>& spans, double recorded_ms) {
    double sum_ms = 0;
    for (const SpanIndex::Wait& span : spans) {
      sum_ms += Milliseconds(span.time.end - span.time.begin);
    }
    return std::abs(sum_ms - recorded_ms) <= kMissingMs + kMissingShare * recorded_ms;
  }

  /// The split of a rank's step; absent when spans of the step are missing.
  std::optional<Split> SplitOf(std::size_t rank, const StepRecord& record) const {
    const auto& waits = index_.Waits(rank, record.step);
    const auto& submits = index_.Submits(rank, record.step);
    if (!AllThere(waits, record.exposed_comm_ms) || !AllThere(submits, record.submit_ms)) {
      return std::nullopt;
    }
    Split split;
    IntervalSet rest;
    for (const SpanIndex::Wait& wait : waits) {
      const auto gradient = index_.Awaited(rank, wait.bucket, wait.time.begin);
      // In the first step, the gradient was submitted before the recorded spans begin.
      if (!gradient && record.step != FirstStep()) return std::nullopt;
      Interval late = wait.time;
      if (gradient && input_.synchronous) {
        const auto last = index_.LastSubmit(wait.bucket, *gradient);
        if (!last) return std::nullopt;
        late.begin = std::clamp(*last, wait.time.begin, wait.time.end);
      }
      split.straggler_ms += Milliseconds(late.begin - wait.time.begin);
      IntervalSet after;
      after.Add(late);
      if (gradient) {
        IntervalSet queued = index_.ServerQueue(wait.bucket, *gradient);
        split.queue_ms += Milliseconds(after.Remove(queued));
      }
      rest.AddAll(after);
    }
    for (const SpanIndex::Wait& submit : submits) rest.Add(submit.time);
    IntervalSet codec = index_.Codec(rank, record.step);
    split.codec_ms = Milliseconds(rest.Remove(codec));
    return split;
  }

  std::int64_t FirstStep() const { return Record(0, 0).step; }

  const CriticalPathInput& input_;
  const SpanIndex index_;
  std::size_t steps_ = 0;
};

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(); }

/// The median over steps; null when a step lacks the value.
template <typename Member>
json Median(std::span<const CriticalStep> steps, Member member) {
  std::vector<double> values;
  for (const CriticalStep& step : steps) {
    const std::optional<double> value = step.*member;
    if (!value) return nullptr;
    values.push_back(*value);
  }
  return OrNull(Quantile(std::move(values), 0.5));
}

}  // namespace

std::vector<CriticalStep> CriticalPath(const CriticalPathInput& input) {
  return PathMaker(input).Make();
}

json CriticalPathJson(std::span<const CriticalStep> steps, std::int64_t warmup_steps) {
  const StepRange timed = TimedSteps(steps.size(), warmup_steps);
  steps = steps.subspan(timed.begin, timed.end - timed.begin);
  std::vector<CriticalStep> seen;
  std::ranges::copy_if(steps, std::back_inserter(seen), &CriticalStep::from_timeline);
  const bool timeline = !seen.empty();
  if (timeline) steps = seen;
  return {{"source", timeline ? "timeline" : "step records"},
          {"steps", steps.size()},
          {"step_ms", Median(steps, &CriticalStep::step_ms)},
          {"compute_ms", Median(steps, &CriticalStep::compute_ms)},
          {"exposed_comm_ms", Median(steps, &CriticalStep::exposed_comm_ms)},
          {"straggler_wait_ms", Median(steps, &CriticalStep::straggler_wait_ms)},
          {"server_queue_ms", Median(steps, &CriticalStep::server_queue_ms)},
          {"codec_ms", Median(steps, &CriticalStep::codec_ms)},
          {"data_ms", Median(steps, &CriticalStep::data_ms)},
          {"other_ms", Median(steps, &CriticalStep::other_ms)}};
}

nlohmann::ordered_json CriticalStepJson(const CriticalStep& step) {
  return {{"step", step.step},
          {"step_ms", step.step_ms},
          {"compute_ms", step.compute_ms},
          {"exposed_comm_ms", step.exposed_comm_ms},
          {"straggler_wait_ms", OrNull(step.straggler_wait_ms)},
          {"server_queue_ms", OrNull(step.server_queue_ms)},
          {"codec_ms", OrNull(step.codec_ms)},
          {"data_ms", step.data_ms},
          {"other_ms", step.other_ms},
          {"source", step.from_timeline ? "timeline" : "step records"}};
}

}  // namespace ringside
