#include "ringside/experiments/text/value_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace ringside {
namespace {

TEST(ValueOrder, FollowsTheFirstQuantityThenTheText) {
  const std::vector<std::string> sorted{
      "none",
      "1.5ms",
      "2",
      "16",
      "100Mbps",
      "300Mbps",
      "rate=300Mbps,congestion=bbr",
      "rate=300Mbps,congestion=reno",
      "1Gbps",
      "rate=1Gbps,racks=2",
      "10Gbps",
  };
  std::vector<std::string> shuffled = sorted;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
  std::ranges::sort(shuffled, {}, ValueOrderOf);
  EXPECT_EQ(shuffled, sorted);
}

TEST(ValueOrder, TellsEqualQuantitiesApart) {
  EXPECT_NE(ValueOrderOf("1000M"), ValueOrderOf("1G"));
  EXPECT_EQ(ValueOrderOf("1G"), ValueOrderOf("1G"));
  EXPECT_LT(ValueOrderOf(""), ValueOrderOf("0"));
}

}  // namespace
}  // namespace ringside
