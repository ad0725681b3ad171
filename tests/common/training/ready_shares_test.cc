#include "ringside/common/training/ready_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace ringside {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(ReadyShares, AreAMeanOverStepsOfTheBackwardPass) {
  ReadyShares ready(3);
  EXPECT_THAT(ready.Means(), IsEmpty());
  ready.AddStep(10, 30, std::array{10.0, 15.0, 30.0});
  EXPECT_THAT(ready.Means(), ElementsAre(0, 0.25, 1));
  ready.AddStep(20, 60, std::array{30.0, 50.0, 60.0});  // a slower step counts as much
  EXPECT_THAT(ready.Means(),
              ElementsAre(DoubleNear(0.125, 1e-12), DoubleNear(0.5, 1e-12), DoubleNear(1, 1e-12)));
}

TEST(ReadyShares, StayBetweenTheBeginningAndTheEnd) {
  ReadyShares ready(3);
  ready.AddStep(10, 30, std::array{5.0, 31.0, kNever});
  EXPECT_THAT(ready.Means(), ElementsAre(0, 1, 1));
}

TEST(ReadyShares, AStepWithoutABackwardPassDoesNotCount) {
  ReadyShares ready(1);
  ready.AddStep(10, 10, std::array{10.0});
  EXPECT_THAT(ready.Means(), IsEmpty());
}

}  // namespace
}  // namespace ringside
