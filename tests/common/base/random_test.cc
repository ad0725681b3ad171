// The numbers of the generators must never change: the order of samples, synthetic data and
// stragglers depend on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ringside/common/base/counter_random.h"
#include "ringside/common/base/splitmix64.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

// Published for this seed, for instance on rosettacode.org ("Pseudo-random numbers/Splitmix64").
TEST(SplitMix64, HasThePublishedNumbers) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317U);
  EXPECT_EQ(random.Next(), 3203168211198807973U);
  EXPECT_EQ(random.Next(), 9817491932198370423U);
}

TEST(SplitMix64, MapsItsNumbersByTheirHighHalf) {
  SplitMix64 random(1234567);
  std::vector<std::size_t> drawn;
  for (int i = 0; i < 6; ++i) drawn.push_back(random.Below(1000));
  EXPECT_THAT(drawn, ElementsAre(350, 173, 532, 249, 889, 423));
}

TEST(CounterRandom, NeverChanges) {
  const RandomKey key = RandomKey::Of({1, 2, 3});
  EXPECT_EQ(key.first, 3232529975U);
  EXPECT_EQ(key.second, 1793398209U);
  EXPECT_EQ(RandomBits(key, 0), 1654936325U);
  EXPECT_EQ(RandomBits(key, 1), 3316651249U);
  EXPECT_EQ(RandomBits(key, 2), 3689398909U);
}

}  // namespace
}  // namespace ringside
