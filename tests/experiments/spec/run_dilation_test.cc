#include "ringside/experiments/spec/run_dilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/spec/spec_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

RunSpec Between(const char* network, const char* dilation) {
  return With(
      ProfileOfTenSteps(),
      {{"strategy", "ring"}, {"workers", "8"}, {"network", network}, {"dilation", dilation}});
}

TEST(DilationShortfall, NamesTheFactorThatTheTrafficNeeds) {
  // Seven links of 20 Gbit/s and the last, which cannot become slower than 1 Mbit/s.
  const char* network = "rate=4Mbps,rates=20Gbps:20Gbps:20Gbps:20Gbps:20Gbps:20Gbps:20Gbps";
  const RunSpec spec = Between(network, "auto");
  EXPECT_EQ(DilationOf(spec, 2), 4);
  EXPECT_EQ(NeededDilationOf(spec, 2), 71);
  EXPECT_THAT(DilationShortfall(spec, 2), HasSubstr("dilation auto is 4"));
  EXPECT_THAT(DilationShortfall(spec, 2), HasSubstr("needs 71 on 2 cores"));
  EXPECT_EQ(DilationShortfall(spec, 64), "") << "3 is enough there";
}

TEST(DilationShortfall, IsEmptyWhereAutoFoundWhatItNeedsOrAFactorWasAskedFor) {
  EXPECT_EQ(DilationShortfall(Between("1Gbps", "auto"), 2), "");
  EXPECT_EQ(DilationShortfall(Between("1Gbps", "1"), 2), "") << "four would be needed";
  EXPECT_EQ(NeededDilationOf(Between("1Gbps", "1"), 2), 4);
}

TEST(DilationShortfall, NeedsAnEmulatedNetwork) {
  EXPECT_EQ(NeededDilationOf(ProfileOfTenSteps(), 2), 1);
  EXPECT_EQ(DilationShortfall(ProfileOfTenSteps(), 2), "");
}

}  // namespace
}  // namespace ringside
