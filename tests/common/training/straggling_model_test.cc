#include "ringside/common/training/straggling_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/strategy/strategy.h"

namespace ringside {
namespace {

using Clock = SlowdownClock::Clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;

/// A clock that moves only when a test moves it.
class FakeClock : public SlowdownClock {
 public:
  Clock::time_point Now() override { return now; }
  void Sleep(Clock::duration duration) override { now += duration + overshoot; }
  double Ms() const { return std::chrono::duration<double, std::milli>(now - begin).count(); }

  const Clock::time_point begin{};
  Clock::time_point now{};
  Clock::duration overshoot{0};
};

/// Computes 4 ms, awaits, computes 6 ms, submits, computes 2 ms.
class ThreePieces : public Model {
 public:
  explicit ThreePieces(FakeClock& clock) : clock_(clock) {}

  std::span<const TensorSpec> Tensors() const override { return {}; }
  void Bind(FlatSpace&, const BucketPlan&) override {}
  double ForwardBackward(const Batch&, Strategy& strategy) override {
    clock_.now += milliseconds(4);
    strategy.Await({});
    clock_.now += milliseconds(6);
    strategy.Submit({});
    clock_.now += milliseconds(2);
    return 7;
  }
  Evaluation Evaluate(const Batch&) override { return {}; }

 private:
  FakeClock& clock_;
};

/// Says that its 12 ms are emulated.
class EmulatedPieces : public ThreePieces, public EmulatedCompute {
 public:
  using ThreePieces::ThreePieces;

  double step_ms() const override { return 12; }
  void SlowDown(double factor) override { stretched.push_back(factor); }

  std::vector<double> stretched;
};

/// When it was called. A call itself takes a millisecond.
class TimedStrategy : public Strategy {
 public:
  explicit TimedStrategy(FakeClock& clock) : clock_(clock) {}

  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket&) override { Call(submitted_ms); }
  void Await(const Bucket&) override { Call(awaited_ms); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

  std::vector<double> submitted_ms, awaited_ms;

 private:
  void Call(std::vector<double>& calls) {
    calls.push_back(clock_.Ms());
    clock_.now += milliseconds(1);
  }

  FakeClock& clock_;
};

class StragglingModelTest : public ::testing::Test {
 protected:
  StragglingModel Slowed(Model& inner, double slowdown) {
    return {inner, EmulatedComputeOf(inner), [=](std::int64_t) { return slowdown; }, recorder_,
            clock_};
  }
  double Step(Model& inner, double slowdown) {
    return Slowed(inner, slowdown).ForwardBackward({}, strategy_);
  }

  FakeClock clock_;
  Recorder recorder_{1};
  TimedStrategy strategy_{clock_};
};

TEST_F(StragglingModelTest, StretchesEveryPieceSoThatGradientsComeLateToo) {
  ThreePieces inner(clock_);
  EXPECT_EQ(Step(inner, 3), 7);
  EXPECT_THAT(strategy_.awaited_ms, ElementsAre(12));    // 3 x 4
  EXPECT_THAT(strategy_.submitted_ms, ElementsAre(31));  // 1 of the call, 3 x 6
  EXPECT_DOUBLE_EQ(clock_.Ms(), 38);                     // another call, 3 x 2
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 24);     // 2 x 12
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 0);
}

TEST_F(StragglingModelTest, TakesWhatASleepLastsTooLongOffTheNext) {
  ThreePieces inner(clock_);
  clock_.overshoot = microseconds(500);
  Step(inner, 2);
  EXPECT_THAT(strategy_.awaited_ms, ElementsAre(8.5));
  EXPECT_THAT(strategy_.submitted_ms, ElementsAre(21.5));
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 12.5);
}

TEST_F(StragglingModelTest, LeavesAStepThatIsNotSlowedAlone) {
  ThreePieces inner(clock_);
  Step(inner, 1);
  EXPECT_DOUBLE_EQ(clock_.Ms(), 14);
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 0);
}

TEST_F(StragglingModelTest, OnlyAModelThatEmulatesHasAnEmulatedClock) {
  ThreePieces real(clock_);
  EmulatedPieces emulating(clock_);
  EXPECT_EQ(EmulatedComputeOf(real), nullptr);
  ASSERT_NE(EmulatedComputeOf(emulating), nullptr);
  EXPECT_EQ(EmulatedComputeOf(emulating)->step_ms(), 12);
}

TEST_F(StragglingModelTest, StretchesTheClockOfAModelBehindAnother) {
  EmulatedPieces emulating(clock_);
  ForwardingModel between(emulating);
  StragglingModel slowed(
      between, &emulating, [](std::int64_t) { return 3; }, recorder_, clock_);
  slowed.ForwardBackward({}, strategy_);
  EXPECT_THAT(emulating.stretched, ElementsAre(3));
  EXPECT_DOUBLE_EQ(clock_.Ms(), 14);
}

TEST_F(StragglingModelTest, LeavesEmulatedComputeToTheModelsOwnClock) {
  EmulatedPieces inner(clock_);
  Step(inner, 3);
  EXPECT_THAT(inner.stretched, ElementsAre(3));
  EXPECT_DOUBLE_EQ(clock_.Ms(), 14);  // no delay was added
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 24);
  Step(inner, 1);
  EXPECT_THAT(inner.stretched, ElementsAre(3, 1));
  EXPECT_DOUBLE_EQ(recorder_.TakeStragglerMs(), 0);
}

/// Computes 4 ms and waits 1 ms before `ForwardBackward`.
class ComputesBefore : public ThreePieces {
 public:
  explicit ComputesBefore(FakeClock& clock) : ThreePieces(clock), clock_(clock) {}

  std::optional<DilatedClock::time_point> BeginStep(std::int64_t, Strategy& strategy) override {
    const auto began = clock_.now;
    clock_.now += milliseconds(4);
    strategy.Await({});
    return began;
  }

 private:
  FakeClock& clock_;
};

/// Its waits take 1 ms.
class SlowAwait : public Strategy {
 public:
  explicit SlowAwait(FakeClock& clock) : clock_(clock) {}
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket&) override {}
  void Await(const Bucket&) override { clock_.now += milliseconds(1); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

 private:
  FakeClock& clock_;
};

TEST(StragglingModelThatBeginsItself, StretchesWhatIsComputedBeforeTheFirstCall) {
  FakeClock clock;
  ComputesBefore inner(clock);
  SlowAwait strategy(clock);
  Recorder recorder(4);
  StragglingModel slowed(
      inner, nullptr, [](std::int64_t) { return 2.0; }, recorder, clock);
  ASSERT_TRUE(slowed.BeginStep(0, strategy));
  slowed.ForwardBackward({}, strategy);
  // 4 + 12 ms of compute take twice as long; two waits of 1 ms do not.
  EXPECT_DOUBLE_EQ(clock.Ms(), 2 * (4 + 12) + 2);
}

}  // namespace
}  // namespace ringside
