// Tests how the two threads of a worker inside of a user's program take turns.
#include "ringside/experiments/program/step_handover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/program/program_model.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = StepHandover::Clock;

/// Writes down its calls, and fails where it is told to.
class LogStrategy : public Strategy {
 public:
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket& bucket) override { Log("submit", bucket); }
  void Await(const Bucket& bucket) override { Log("await", bucket); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override {}

  std::vector<std::string> log;
  std::string fails_at;

 private:
  void Log(const std::string& call, const Bucket& bucket) {
    log.push_back(call + " " + std::to_string(bucket.index) + " of " + std::to_string(bucket.step));
    if (log.back() == fails_at) throw CommError("worker 1", call, "it is gone");
  }
};

/// The training thread runs `train` on a thread of its own; the test is the program's thread.
class StepHandoverTest : public ::testing::Test {
 protected:
  StepHandoverTest() : plan_(std::vector<TensorSpec>{{"a", 16}, {"b", 16}}, {.target_bytes = 0}) {}
  ~StepHandoverTest() override { Finish(); }

  /// What the training loop does with a model.
  void Train(int steps) {
    trainer_ = std::thread([this, steps] {
      try {
        ProgramModel model(handover_);
        static_cast<void>(model.Tensors());
        model.Bind(space_, plan_);
        for (int step = 0; step < steps; ++step) {
          if (!model.BeginStep(step, strategy_)) break;
          if (before_step_) before_step_();
          losses_.push_back(model.ForwardBackward({}, strategy_));
          samples_.push_back(model.StepSamples({}));
        }
        model.KeepMemory(std::move(space_));
      } catch (const std::exception& error) {
        failure_ = error.what();
      }
      // The process of a failed worker ends. Here its program goes on, so that the test can.
      handover_.SetFinished();
    });
  }

  void Register() {
    static_cast<void>(handover_.Register({{"a", 16}, {"b", 16}}, {.by_model = true}));
    handover_.Loaded();
  }

  void Finish() {
    if (trainer_.joinable()) trainer_.join();
  }

  BucketPlan plan_;
  FlatSpace space_{32};
  LogStrategy strategy_;
  StepHandover handover_;
  std::function<void()> before_step_;  // the training thread calls it when a step begins
  std::thread trainer_;
  std::vector<double> losses_;
  std::vector<std::size_t> samples_;
  std::string failure_;
};

TEST_F(StepHandoverTest, AStepIsLentToTheProgram) {
  Train(2);
  Register();
  for (int step = 0; step < 2; ++step) {
    handover_.Await(1);
    EXPECT_FALSE(handover_.in_step());
    EXPECT_TRUE(handover_.Begin(Clock::now(), std::nullopt));
    EXPECT_TRUE(handover_.in_step());
    EXPECT_EQ(handover_.step(), step);
    handover_.Submit(0);
    handover_.EndStep(2.5 + step, 8);
  }
  Finish();
  EXPECT_THAT(strategy_.log,
              ElementsAre("await 1 of 0", "submit 0 of 0", "await 1 of 1", "submit 0 of 1"));
  EXPECT_THAT(losses_, ElementsAre(2.5, 3.5));
  EXPECT_THAT(samples_, ElementsAre(8, 8));
}

TEST_F(StepHandoverTest, AStepBeginsAtOnceAndItsStrategyIsWaitedFor) {
  std::binary_semaphore gate(0);
  before_step_ = [&] {
    gate.acquire();
    strategy_.log.push_back("begun");
  };
  Train(1);
  Register();
  ASSERT_TRUE(handover_.Begin(Clock::now(), std::nullopt));
  EXPECT_TRUE(handover_.in_step());
  EXPECT_TRUE(handover_.Begin(Clock::now(), std::nullopt)) << "does nothing inside a step";
  gate.release();
  handover_.Await(1);
  handover_.Submit(0);
  handover_.EndStep(1, 1);
  Finish();
  EXPECT_THAT(strategy_.log, ElementsAre("begun", "await 1 of 0", "submit 0 of 0"));
}

TEST_F(StepHandoverTest, AfterTheLastStepNothingBeginsAndTheMemoryStays) {
  Train(1);
  const StepHandover::Memory memory =
      handover_.Register({{"a", 16}, {"b", 16}}, {.by_model = true});
  const std::span<float> params = memory.space->params();
  params[3] = 7;
  handover_.Loaded();
  ASSERT_TRUE(handover_.Begin(Clock::now(), std::nullopt));
  handover_.EndStep(0, 0);
  EXPECT_FALSE(handover_.Begin(Clock::now(), std::nullopt));
  EXPECT_TRUE(handover_.finished());
  handover_.Await(0);
  EXPECT_EQ(params[3], 7);
  EXPECT_THAT(strategy_.log, ElementsAre());
}

TEST_F(StepHandoverTest, AProgramMayEndBetweenTwoSteps) {
  Train(5);
  Register();
  ASSERT_TRUE(handover_.Begin(Clock::now(), std::nullopt));
  handover_.EndStep(1, 1);
  handover_.End();
  Finish();
  EXPECT_THAT(losses_, ElementsAre(1));
  EXPECT_EQ(failure_, "");
}

TEST_F(StepHandoverTest, CallsInAWrongOrderChangeNothing) {
  EXPECT_THROW(handover_.Loaded(), ConfigError);
  EXPECT_THROW(handover_.Await(0), ConfigError);
  EXPECT_THROW(static_cast<void>(handover_.Begin(Clock::now(), std::nullopt)), ConfigError);
  Train(1);
  Register();
  EXPECT_THROW(handover_.Submit(0), ConfigError);
  EXPECT_THROW(handover_.EndStep(0, 0), ConfigError);
  EXPECT_THROW(static_cast<void>(handover_.Register({{"c", 1}}, {})), ConfigError);
  ASSERT_TRUE(handover_.Begin(Clock::now(), std::nullopt));
  EXPECT_TRUE(handover_.Begin(Clock::now(), std::nullopt)) << "a step has one begin";
  handover_.EndStep(4, 1);
  Finish();
  EXPECT_THAT(losses_, ElementsAre(4));
}

TEST(StepHandoverDeathTest, AFailureAfterTheTrainingEndsTheProcess) {
  StepHandover handover;
  handover.SetFinished();
  EXPECT_EXIT(handover.Fail(std::make_exception_ptr(ProgramError("the program is out of paper"))),
              ::testing::ExitedWithCode(1), "out of paper");
}

TEST_F(StepHandoverTest, AProgramWithoutParametersFails) {
  Train(1);
  handover_.End();
  Finish();
  EXPECT_THAT(failure_, HasSubstr("registering parameters"));
}

/// What ends the process of a worker blocks the thread of its program for ever. So that is a thread
/// which these tests leave behind.
// The threads that are left behind use the handover, so it is never destroyed.
template <typename Test>
std::string FailureOf(Test test) {
  auto* handover = new StepHandover;  // NOLINT(cppcoreguidelines-owning-memory)
  static BucketPlan plan(std::vector<TensorSpec>{{"a", 16}}, {.target_bytes = 0});
  static FlatSpace space(16);
  std::thread([handover, test] {
    static_cast<void>(handover->Register({{"a", 16}}, {.by_model = true}));
    handover->Loaded();
    test(*handover);
  }).detach();
  LogStrategy strategy;
  strategy.fails_at = "submit 0 of 0";
  try {
    ProgramModel model(*handover);
    static_cast<void>(model.Tensors());
    model.Bind(space, plan);
    if (model.BeginStep(0, strategy)) model.ForwardBackward({}, strategy);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST(FailuresOfAProgram, AreReportedByTheTrainingThread) {
  EXPECT_EQ(FailureOf([](StepHandover& handover) {
              handover.Fail(std::make_exception_ptr(ProgramError("it raised an error")));
            }),
            "it raised an error");
  EXPECT_THAT(FailureOf([](StepHandover& handover) {
                static_cast<void>(handover.Begin(Clock::now(), std::nullopt));
                handover.Submit(0);
              }),
              HasSubstr("worker 1 failed"));
  EXPECT_THAT(FailureOf([](StepHandover& handover) {
                static_cast<void>(handover.Begin(Clock::now(), std::nullopt));
                handover.End();
              }),
              HasSubstr("ended inside of step 0"));
}

}  // namespace
}  // namespace ringside
