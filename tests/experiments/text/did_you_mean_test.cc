#include "ringside/experiments/text/did_you_mean.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace ringside {
namespace {

constexpr std::array<std::string_view, 5> kWords{"none", "ring", "halving-doubling", "ps-sync",
                                                 "ps-async"};

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("", "ring"), 4U);
  EXPECT_EQ(EditDistance("ring", "ring"), 0U);
  EXPECT_EQ(EditDistance("rng", "ring"), 1U);
  EXPECT_EQ(EditDistance("rring", "ring"), 1U);
  EXPECT_EQ(EditDistance("rang", "ring"), 1U);
  EXPECT_EQ(EditDistance("rign", "ring"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(DidYouMean, FindsSlips) {
  EXPECT_EQ(NearestWord("rng", kWords), "ring");
  EXPECT_EQ(NearestWord("ps_sync", kWords), "ps-sync");
  EXPECT_EQ(NearestWord("ps-asinc", kWords), "ps-async");
  EXPECT_EQ(NearestWord("halving", kWords), "halving-doubling");
  EXPECT_EQ(NearestWord("halving-doubling-all", kWords), "halving-doubling");
  EXPECT_EQ(DidYouMean("rign", kWords), " (did you mean 'ring'?)");
}

TEST(DidYouMean, SaysNothingAboutFarWords) {
  EXPECT_EQ(NearestWord("banana", kWords), "");
  EXPECT_EQ(DidYouMean("banana", kWords), "");
  EXPECT_EQ(DidYouMean("", kWords), "");
  EXPECT_EQ(NearestWord(std::string(3000, 'r'), kWords), "");
}

TEST(DidYouMean, NeverSuggestsTheWordItself) { EXPECT_EQ(DidYouMean("ring", kWords), ""); }

}  // namespace
}  // namespace ringside
