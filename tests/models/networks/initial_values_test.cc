#include "ringside/models/networks/initial_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ringside {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::Lt;

std::vector<float> Filled(std::uint64_t seed, double bound, std::size_t size) {
  InitialGenerator generator = MakeInitialGenerator(seed);
  std::vector<float> values(size);
  FillUniform(values, bound, generator);
  return values;
}

// 3499211612 is the first number of mt19937 with its default seed, by the C++ standard's reference.
TEST(InitialValues, TakeTheLowest24BitsOfTheGeneratorsNumbers) {
  const double unit = std::fmod(3499211612.0, 1 << 24) / (1 << 24);
  EXPECT_FLOAT_EQ(Filled(5489, 0.5, 1)[0], static_cast<float>(unit - 0.5));
}

TEST(InitialValues, LieWithinTheBoundAndFillIt) {
  const std::vector<float> values = Filled(1, 0.25, 10'000);
  EXPECT_THAT(values, Each(Ge(-0.25F)));
  EXPECT_THAT(values, Each(Lt(0.25F)));
  const auto [least, most] = std::ranges::minmax(values);
  EXPECT_LT(least, -0.2495F);
  EXPECT_GT(most, 0.2495F);
}

TEST(InitialValues, DependOnTheSeedAlone) {
  EXPECT_EQ(Filled(7, 1, 100), Filled(7, 1, 100));
  EXPECT_NE(Filled(7, 1, 100), Filled(8, 1, 100));
}

TEST(InitialValues, ContinueFromOneTensorToTheNext) {
  InitialGenerator generator = MakeInitialGenerator(3);
  std::vector<float> values(10);
  FillUniform(std::span(values).first(4), 1, generator);
  FillUniform(std::span(values).last(6), 1, generator);
  EXPECT_EQ(values, Filled(3, 1, 10));
}

TEST(InitialValues, TheBoundOfALayerIsOneOverTheRootOfItsInputs) {
  EXPECT_DOUBLE_EQ(DefaultBound(64), 0.125);
}

}  // namespace
}  // namespace ringside
