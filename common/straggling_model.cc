#include "common/straggling_model.h"

#include <thread>

#include "common/strategy.h"

namespace ringside {
namespace {

using Clock = StretchClock::Clock;

/// Shorter waits are put off until there is more to wait for: the kernel's timer is no finer.
constexpr std::chrono::microseconds kLeastWait{50};

/// Sees when a model computes: between the calls that it makes. Waits in proportion before each
/// call goes on.
class StretchingStrategy : public Strategy {
 public:
  StretchingStrategy(Strategy& inner, double slowdown, StretchClock& clock)
      : inner_(inner), extra_(slowdown - 1), clock_(clock), computing_since_(clock.Now()) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override {
    inner_.Start(space, plan, from);
  }
  void Submit(const Bucket& bucket) override {
    Stretch(kLeastWait);
    inner_.Submit(bucket);
    computing_since_ = clock_.Now();
  }
  void Await(const Bucket& bucket) override {
    Stretch(kLeastWait);
    inner_.Await(bucket);
    computing_since_ = clock_.Now();
  }
  void Settle() override { inner_.Settle(); }
  void ReadOptimizerState(std::span<float> out) override { inner_.ReadOptimizerState(out); }
  void Stop() override { inner_.Stop(); }

  /// For what was computed after the last call. Returns all that was waited.
  Clock::duration Finish() {
    Stretch(Clock::duration{1});
    return waited_;
  }

 private:
  // A sleep that lasts too long is taken off the next.
  void Stretch(Clock::duration least) {
    const Clock::time_point begin = clock_.Now();
    owed_ += std::chrono::duration_cast<Clock::duration>((begin - computing_since_) * extra_);
    if (owed_ < least) return;
    clock_.Sleep(owed_);
    const Clock::duration slept = clock_.Now() - begin;
    owed_ -= slept;
    waited_ += slept;
  }

  Strategy& inner_;
  const double extra_;
  StretchClock& clock_;
  Clock::time_point computing_since_;
  Clock::duration owed_{0};
  Clock::duration waited_{0};
};

}  // namespace

void StretchClock::Sleep(Clock::duration duration) { std::this_thread::sleep_for(duration); }

double StragglingModel::ForwardBackward(const Batch& batch, Strategy& strategy) {
  const double slowdown = slowdown_(batch.step);
  if (inner_.StretchCompute(slowdown)) {
    const std::chrono::duration<double, std::milli> added(inner_.emulated_compute_ms() *
                                                          (slowdown - 1));
    recorder_.AddStragglerTime(std::chrono::duration_cast<std::chrono::nanoseconds>(added));
    return inner_.ForwardBackward(batch, strategy);
  }
  if (slowdown <= 1) return inner_.ForwardBackward(batch, strategy);
  StretchingStrategy stretching(strategy, slowdown, clock_);
  const double loss = inner_.ForwardBackward(batch, stretching);
  recorder_.AddStragglerTime(stretching.Finish());
  return loss;
}

}  // namespace ringside
