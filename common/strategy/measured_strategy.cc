#include "ringside/common/strategy/measured_strategy.h"

#include <chrono>
#include <utility>

namespace ringside {
namespace {

double Milliseconds(Timeline::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

void MeasuredStrategy::Submit(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  inner().Submit(bucket);
  const auto end = Timeline::Clock::now();
  times_.submit_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kSubmit, begin, end, bucket.step, bucket.index, 0);
}

void MeasuredStrategy::Await(const Bucket& bucket) {
  const auto begin = Timeline::Clock::now();
  inner().Await(bucket);
  const auto end = Timeline::Clock::now();
  times_.await_ms += Milliseconds(end - begin);
  timeline_.Add(SpanKind::kAwait, begin, end, bucket.step, bucket.index, 0);
}

MeasuredStrategy::Times MeasuredStrategy::TakeTimes() { return std::exchange(times_, {}); }

}  // namespace ringside
