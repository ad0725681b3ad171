#include "ringside/experiments/job/coordinator/clock_offset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace ringside {
namespace {

TEST(BestReading, IsOfTheShortestRoundTrip) {
  const std::vector<ClockExchange> exchanges{
      {1000, 501'500, 3000},   // 2000 there and back
      {5000, 505'100, 5200},   // 200
      {9000, 509'900, 10'000}  // 1000
  };
  const ClockReading reading = BestReading(exchanges);
  EXPECT_EQ(reading.at, 5100);
  EXPECT_EQ(reading.offset, 500'000);
  EXPECT_EQ(reading.uncertainty, 101);
}

// However unevenly a round trip is split between the ways, the true offset is inside.
TEST(BestReading, ContainsTheTrueOffset) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t offset =
        std::uniform_int_distribution<std::int64_t>(-1'000'000, 1'000'000)(random);
    std::vector<ClockExchange> exchanges;
    std::int64_t now = 1'000'000'000;
    for (int i = 0; i < 8; ++i) {
      const std::int64_t there = std::uniform_int_distribution<std::int64_t>(0, 50'001)(random);
      const std::int64_t back = std::uniform_int_distribution<std::int64_t>(0, 50'001)(random);
      exchanges.push_back({now, now + there + offset, now + there + back});
      now += there + back + 10;
    }
    const ClockReading reading = BestReading(exchanges);
    EXPECT_LE(std::abs(reading.offset - offset), reading.uncertainty);
  }
}

TEST(ClockCorrection, AddsNothingWhereClocksAreOne) {
  const ClockCorrection correction({{1000, 40, 100}, {9000, -90, 90}});
  EXPECT_TRUE(correction.shared());
  EXPECT_EQ(correction.ToCoordinator(5000), 5000);
  EXPECT_EQ(ClockCorrection().ToCoordinator(5), 5);
  EXPECT_TRUE(ClockCorrection().shared());
}

TEST(ClockCorrection, AddsTheOffsetOfAnotherClock) {
  const ClockCorrection correction({{1000, 7'000'000, 100}});
  EXPECT_FALSE(correction.shared());
  EXPECT_EQ(correction.ToCoordinator(5000), 7'005'000);
}

// One reading beyond its uncertainty is enough: the other may have been lucky.
TEST(ClockCorrection, TakesDriftOutBetweenTheFirstAndTheLastReading) {
  const ClockCorrection correction({{101'000, 500, 10}, {1000, 0, 10}});  // in any order
  EXPECT_FALSE(correction.shared());
  EXPECT_EQ(correction.ToCoordinator(1000), 1000);
  EXPECT_EQ(correction.ToCoordinator(51'000), 51'250);
  EXPECT_EQ(correction.ToCoordinator(101'000), 101'500);
  EXPECT_EQ(correction.ToCoordinator(201'000), 202'000) << "the line goes on";
}

}  // namespace
}  // namespace ringside
