#include "ringside/common/strategy/measured_strategy.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <utility>

namespace ringside {
namespace {

double Milliseconds(Timeline::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

void MeasuredStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  submitted_ms_.resize(static_cast<std::size_t>(plan.buckets()));
  submitted_step_.assign(submitted_ms_.size(), -1);
  inner().Start(space, plan, from);
}

void MeasuredStrategy::BeginCompute(Timeline::Clock::time_point now) {
  compute_begin_ = now;
  std::ranges::fill(submitted_ms_, std::numeric_limits<double>::infinity());
}

void MeasuredStrategy::Submit(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  if (const auto index = static_cast<std::size_t>(bucket.index); index < submitted_ms_.size()) {
    submitted_ms_[index] =
        Milliseconds(begin - compute_begin_) - times_.submit_ms - times_.await_ms;
    submitted_step_[index] = bucket.step;
  }
  inner().Submit(bucket);
  const auto end = Timeline::Clock::now();
  times_.submit_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kSubmit, begin, end, bucket.step, bucket.index, 0);
}

std::int64_t MeasuredStrategy::NeededIn(const Bucket& bucket) const {
  const auto index = static_cast<std::size_t>(bucket.index);
  if (index >= submitted_step_.size()) return bucket.step;
  return std::max(bucket.step, submitted_step_[index] + 1);
}

void MeasuredStrategy::Await(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  const ActivityBoard::Entry before = activity_.Get();
  activity_.Set({Activity::Kind::kAwait, NeededIn(bucket), bucket.index}, begin);
  inner().Await(bucket);
  const auto end = Timeline::Clock::now();
  activity_.Set(before.activity, before.since + (end - begin));  // without the wait
  times_.await_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kAwait, begin, end, bucket.step, bucket.index, 0);
}

MeasuredStrategy::Times MeasuredStrategy::TakeTimes() { return std::exchange(times_, {}); }

}  // namespace ringside
