#include "ringside/common/training/straggling_model.h"

#include "ringside/common/strategy/strategy_decorator.h"

namespace ringside {
namespace {

using Clock = SlowdownClock::Clock;

/// Shorter waits are collected until they are longer than this: the kernel's timer is not finer.
constexpr std::chrono::microseconds kLeastWait{50};

/// Measures when a model computes, which is the time between the calls that it makes. Before each
/// call it waits in proportion.
class StretchingStrategy : public StrategyDecorator {
 public:
  StretchingStrategy(Strategy& inner, double slowdown, SlowdownClock& clock,
                     Clock::time_point computing_since)
      : StrategyDecorator(inner),
        extra_(slowdown - 1),
        clock_(clock),
        computing_since_(computing_since) {}

  void Submit(const Bucket& bucket) override {
    Stretch(kLeastWait);
    inner().Submit(bucket);
    computing_since_ = clock_.Now();
  }
  void Await(const Bucket& bucket) override {
    Stretch(kLeastWait);
    inner().Await(bucket);
    computing_since_ = clock_.Now();
  }

  /// Waits for the compute since the last call. Returns the total time waited.
  Clock::duration Finish() {
    Stretch(Clock::duration{1});
    return waited_;
  }

 private:
  // A sleep that lasts too long shortens the next one.
  void Stretch(Clock::duration least) {
    const Clock::time_point begin = clock_.Now();
    owed_ += std::chrono::duration_cast<Clock::duration>((begin - computing_since_) * extra_);
    if (owed_ < least) return;
    clock_.Sleep(owed_);
    const Clock::duration slept = clock_.Now() - begin;
    owed_ -= slept;
    waited_ += slept;
  }

  const double extra_;
  SlowdownClock& clock_;
  Clock::time_point computing_since_;
  Clock::duration owed_{0};
  Clock::duration waited_{0};
};

/// Measures how long a model waits for buckets.
class WaitMeter : public StrategyDecorator {
 public:
  WaitMeter(Strategy& inner, SlowdownClock& clock) : StrategyDecorator(inner), clock_(clock) {}

  void Await(const Bucket& bucket) override {
    const Clock::time_point begin = clock_.Now();
    inner().Await(bucket);
    waited_ += clock_.Now() - begin;
  }
  Clock::duration waited() const { return waited_; }

 private:
  SlowdownClock& clock_;
  Clock::duration waited_{0};
};

}  // namespace

void SlowdownClock::Sleep(Clock::duration duration) { DilatedClock::SleepFor(duration); }

std::optional<DilatedClock::time_point> StragglingModel::BeginStep(std::int64_t step,
                                                                   Strategy& strategy) {
  WaitMeter meter(strategy, clock_);
  const auto began = inner().BeginStep(step, meter);
  computing_since_.reset();
  if (began) computing_since_ = *began + meter.waited();
  return began;
}

double StragglingModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  const double slowdown = slowdown_(batch.step);
  if (emulated_ != nullptr) {
    emulated_->SlowDown(slowdown);
    const std::chrono::duration<double, std::milli> added(emulated_->step_ms() * (slowdown - 1));
    recorder_.AddStragglerTime(std::chrono::duration_cast<std::chrono::nanoseconds>(added));
    return inner().ForwardBackward(batch, strategy);
  }
  if (slowdown <= 1) return inner().ForwardBackward(batch, strategy);
  StretchingStrategy stretching(strategy, slowdown, clock_,
                                computing_since_.value_or(clock_.Now()));
  const double loss = inner().ForwardBackward(batch, stretching);
  recorder_.AddStragglerTime(stretching.Finish());
  return loss;
}

}  // namespace ringside
