#include "ringside/common/measure/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(RecorderTest, KeepsEveryStepAndEvaluationInOrder) {
  Recorder recorder(2);
  for (std::int64_t step = 0; step < 5; ++step) recorder.AddStep({.step = step});
  recorder.AddEvaluation({.step = 5, .accuracy = 0.5});
  ASSERT_EQ(recorder.steps().size(), 5U);
  EXPECT_EQ(recorder.steps()[4].step, 4);
  EXPECT_EQ(recorder.evaluations()[0].accuracy, 0.5);
}

TEST(RecorderTest, ReservesSoThatStepsDoNotAllocate) {
  Recorder recorder(100);
  const StepRecord* first = recorder.steps().data();
  for (std::int64_t step = 0; step < 100; ++step) recorder.AddStep({.step = step});
  EXPECT_EQ(recorder.steps().data(), first);
}

TEST(RecorderTest, CountersAddUpOverThreads) {
  Recorder recorder(0);
  RunRanks(4, [&](int rank) {
    for (int i = 0; i < 1000; ++i) {
      recorder.AddPayload(3, 2);
      recorder.AddStaleness(rank / 2);
      recorder.AddDroppedPush();
      recorder.AddReconnects(2);
    }
  });
  EXPECT_EQ(recorder.bytes_sent(), 12000U);
  EXPECT_EQ(recorder.bytes_received(), 8000U);
  EXPECT_THAT(recorder.staleness(), ElementsAre(Pair(0, 2000), Pair(1, 2000)));
  EXPECT_EQ(recorder.dropped_pushes(), 4000);
  EXPECT_EQ(recorder.reconnects(), 8000);
}

}  // namespace
}  // namespace ringside
