#include "experiments/job/stop_gate.h"

#include <gtest/gtest.h>

#include <future>

#include "common/errors.h"

namespace ringside {
namespace {

Deadline Soon() { return Deadline::After(std::chrono::seconds(10)); }

TEST(StopGate, LetsEveryStepStartUntilItIsHeld) {
  StopGate gate(3);
  EXPECT_EQ(gate.next_step(), 3);
  EXPECT_TRUE(gate.MayStart(3, Soon()));
  EXPECT_TRUE(gate.MayStart(4, Soon()));
  EXPECT_EQ(gate.Hold(), 5);
  EXPECT_EQ(gate.Hold(), 5);
}

TEST(StopGate, StartsNoStepWhileHeldAndStopsWhereTold) {
  StopGate gate(0);
  EXPECT_TRUE(gate.MayStart(0, Soon()));
  EXPECT_EQ(gate.Hold(), 1);
  auto trainer = std::async(std::launch::async, [&gate] {
    std::int64_t step = 1;
    while (gate.MayStart(step, Soon())) ++step;
    return step;
  });
  gate.StopAt(3);
  EXPECT_EQ(trainer.get(), 3);
}

TEST(StopGate, TheFirstAnswerCounts) {
  StopGate gate(0);
  gate.Hold();
  gate.StopAt(1);
  gate.StopAt(5);
  EXPECT_TRUE(gate.MayStart(0, Soon()));
  EXPECT_FALSE(gate.MayStart(1, Soon()));
}

TEST(StopGate, NamesTheCoordinatorWhenNoAnswerComes) {
  StopGate gate(0);
  gate.Hold();
  try {
    gate.MayStart(0, Deadline::After(std::chrono::milliseconds(1)));
    FAIL() << "expected a CommError";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "coordinator");
  }
}

TEST(StopGate, ABrokenGateThrows) {
  StopGate gate(0);
  gate.Break("worker 1 was killed by signal 9");
  EXPECT_THROW(gate.MayStart(0, Soon()), CommError);
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

// Ranks that drift apart and are held at different steps: all end at the same one.
TEST(StopAgreement, AllGatesEndAtTheSameStep) {
  constexpr int kRanks = 4;
  std::vector<std::unique_ptr<StopGate>> gates;
  std::vector<std::future<std::int64_t>> trainers;
  for (int rank = 0; rank < kRanks; ++rank) {
    gates.push_back(std::make_unique<StopGate>(0));
    trainers.push_back(std::async(std::launch::async, [gate = gates.back().get()] {
      std::int64_t step = 0;
      while (gate->MayStart(step, Soon())) ++step;
      return step;
    }));
  }
  StopAgreement agreement(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    agreement.Report(rank, gates[static_cast<std::size_t>(rank)]->Hold());
  }
  ASSERT_TRUE(agreement.stop_step());
  for (const auto& gate : gates) gate->StopAt(*agreement.stop_step());
  for (auto& trainer : trainers) EXPECT_EQ(trainer.get(), *agreement.stop_step());
}

}  // namespace
}  // namespace ringside
