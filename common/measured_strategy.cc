#include "common/measured_strategy.h"

#include <chrono>
#include <utility>

namespace ringside {
namespace {

double Milliseconds(Timeline::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

void MeasuredStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  inner_.Start(space, plan, from);
}

void MeasuredStrategy::Submit(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  inner_.Submit(bucket);
  const auto end = Timeline::Clock::now();
  times_.submit_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kSubmit, begin, end, bucket.step, bucket.index, 0);
}

void MeasuredStrategy::Await(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  inner_.Await(bucket);
  const auto end = Timeline::Clock::now();
  times_.await_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kAwait, begin, end, bucket.step, bucket.index, 0);
}

MeasuredStrategy::Times MeasuredStrategy::TakeTimes() { return std::exchange(times_, {}); }

}  // namespace ringside
