// Tests the settings and messages of NCCL that need no GPU.
#include "ringside/ring/backends/nccl_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NcclSettingsTest, PinTheAllReduceAlone) {
  EXPECT_STREQ(NcclAlgorithmSetting(NcclAlgorithm::kRing), "allreduce:ring");
  EXPECT_STREQ(NcclAlgorithmSetting(NcclAlgorithm::kTree), "allreduce:tree");
}

TEST(NcclSettingsTest, OnLoopbackNcclListensNowhereElse) {
  EXPECT_EQ(NcclInterface("127.0.0.1"), "lo");
  EXPECT_EQ(NcclInterface("127.1.2.3"), "lo");
  EXPECT_EQ(NcclInterface("::1"), "lo");
  EXPECT_THAT(NcclInterface("10.0.0.1"), IsEmpty());
  EXPECT_THAT(NcclInterface("12.7.0.1"), IsEmpty());
}

TEST(NcclSettingsTest, WorkersThatShareAGpuAreHostsOfTheirOwnToNccl) {
  const auto first = SharedGpuSettings(0);
  const auto second = SharedGpuSettings(1);
  EXPECT_EQ(first.front().first, "NCCL_HOSTID");
  EXPECT_NE(first.front().second, second.front().second);
  EXPECT_THAT(first, ::testing::Contains(::testing::Pair("NCCL_NET", "Socket")));
  EXPECT_THAT(kSharedGpuNote, HasSubstr("emulated"));
}

TEST(NcclSettingsTest, EveryWorkerOfAHostNeedsAGpuOfItsOwn) {
  EXPECT_THAT(TooFewDevices(2, 2), IsEmpty());
  EXPECT_THAT(TooFewDevices(2, 1),
              AllOf(HasSubstr("2 workers on a host with 1 GPU that"), HasSubstr("at most 1 ")));
  EXPECT_THAT(TooFewDevices(4, 2), HasSubstr("with 2 GPUs"));
}

}  // namespace
}  // namespace ringside
