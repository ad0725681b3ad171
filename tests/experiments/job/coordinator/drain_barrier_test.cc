#include "ringside/experiments/job/coordinator/drain_barrier.h"

#include <gtest/gtest.h>

#include <future>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

Deadline Soon() { return Deadline::After(std::chrono::seconds(10)); }

TEST(DrainBarrier, LetsEveryStepStartUntilItIsHeld) {
  DrainBarrier drain_barrier(3);
  EXPECT_EQ(drain_barrier.next_step(), 3);
  EXPECT_TRUE(drain_barrier.MayStart(3, Soon()));
  EXPECT_TRUE(drain_barrier.MayStart(4, Soon()));
  EXPECT_EQ(drain_barrier.Hold(), 5);
  EXPECT_EQ(drain_barrier.Hold(), 5);
}

TEST(DrainBarrier, StartsNoStepWhileHeldAndStopsWhereTold) {
  DrainBarrier drain_barrier(0);
  EXPECT_TRUE(drain_barrier.MayStart(0, Soon()));
  EXPECT_EQ(drain_barrier.Hold(), 1);
  auto trainer = std::async(std::launch::async, [&drain_barrier] {
    std::int64_t step = 1;
    while (drain_barrier.MayStart(step, Soon())) ++step;
    return step;
  });
  drain_barrier.StopAt(3);
  EXPECT_EQ(trainer.get(), 3);
}

TEST(DrainBarrier, TheFirstAnswerCounts) {
  DrainBarrier drain_barrier(0);
  drain_barrier.Hold();
  drain_barrier.StopAt(1);
  drain_barrier.StopAt(5);
  EXPECT_TRUE(drain_barrier.MayStart(0, Soon()));
  EXPECT_FALSE(drain_barrier.MayStart(1, Soon()));
}

TEST(DrainBarrier, NamesTheCoordinatorWhenNoAnswerComes) {
  DrainBarrier drain_barrier(0);
  drain_barrier.Hold();
  try {
    drain_barrier.MayStart(0, Deadline::After(std::chrono::milliseconds(1)));
    FAIL() << "expected a CommError";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "coordinator");
  }
}

TEST(DrainBarrier, ABrokenGateThrows) {
  DrainBarrier drain_barrier(0);
  drain_barrier.Break("worker 1 was killed by signal 9");
  EXPECT_THROW(drain_barrier.MayStart(0, Soon()), CommError);
}

TEST(StopAgreement, WaitsForAllAndTakesTheLargest) {
  StopAgreement agreement(3);
  EXPECT_FALSE(agreement.stop_step());
  agreement.Report(2, 7);
  agreement.Report(0, 5);
  EXPECT_FALSE(agreement.stop_step());
  agreement.Report(0, 100);  // the first report of a rank counts
  agreement.Report(1, 6);
  EXPECT_EQ(agreement.stop_step(), 7);
}

TEST(StopAgreement, DoesNotWaitForADroppedWorker) {
  StopAgreement agreement(3);
  agreement.Report(0, 5);
  agreement.Report(2, 6);
  EXPECT_FALSE(agreement.stop_step());
  agreement.Drop(1);
  EXPECT_EQ(agreement.stop_step(), 6);
  agreement.Drop(2);
  EXPECT_EQ(agreement.stop_step(), 6) << "worker 0 may have been told";
}

// Ranks drift apart and are held at different steps, but all end at the same step.
TEST(StopAgreement, AllGatesEndAtTheSameStep) {
  constexpr int kRanks = 4;
  std::vector<std::unique_ptr<DrainBarrier>> gates;
  std::vector<std::future<std::int64_t>> trainers;
  for (int rank = 0; rank < kRanks; ++rank) {
    gates.push_back(std::make_unique<DrainBarrier>(0));
    trainers.push_back(std::async(std::launch::async, [drain_barrier = gates.back().get()] {
      std::int64_t step = 0;
      while (drain_barrier->MayStart(step, Soon())) ++step;
      return step;
    }));
  }
  StopAgreement agreement(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    agreement.Report(rank, gates[static_cast<std::size_t>(rank)]->Hold());
  }
  ASSERT_TRUE(agreement.stop_step());
  for (const auto& drain_barrier : gates) drain_barrier->StopAt(*agreement.stop_step());
  for (auto& trainer : trainers) EXPECT_EQ(trainer.get(), *agreement.stop_step());
}

}  // namespace
}  // namespace ringside
