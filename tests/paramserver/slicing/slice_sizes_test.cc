#include "ringside/paramserver/slicing/slice_sizes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr double kMbit = 1e6 / 8;

World WorldOf(int workers, int dedicated, int colocated = 0) {
  World world = TestWorld(0, workers, dedicated + colocated);
  world.colocated_servers = colocated;
  return world;
}

BucketPlan PlanOf(std::size_t bucket_bytes) {
  const std::vector<TensorSpec> tensors{{"all", 25 * kMiB}};
  return {tensors, {bucket_bytes, bucket_bytes}};
}

LinkFacts Between(double bytes_per_s, double round_trip_s = 0) {
  return {.scope = LinkScope::kInterHost, .bytes_per_s = bytes_per_s, .round_trip_s = round_trip_s};
}

SliceSizes Choose(const LinkFacts& links, const WantedSizes& wanted, const World& world) {
  return ChooseSliceSizes(links, wanted, PlanOf(4 * kMiB), world);
}

TEST(ChooseSliceSizes, FollowTheLinksBetweenHosts) {
  EXPECT_EQ(Choose(Between(100 * kMbit), {}, WorldOf(4, 1)).slice_bytes, 48 * kKiB);
  EXPECT_EQ(Choose(Between(300 * kMbit), {}, WorldOf(4, 4)).slice_bytes, 75'000U);
  EXPECT_EQ(Choose(Between(1000 * kMbit), {}, WorldOf(4, 4)).slice_bytes, 250'000U);
  EXPECT_EQ(Choose(Between(10'000 * kMbit), {}, WorldOf(4, 4)).slice_bytes, 256 * kKiB);
  EXPECT_EQ(Choose(Between(0), {}, WorldOf(4, 4)).slice_bytes, 256 * kKiB) << "unknown";
}

TEST(ChooseSliceSizes, OfAllWorkersFitIntoTheQueueOfALink) {
  const auto slice = [](int workers, int servers) {
    return Choose(Between(10'000 * kMbit), {}, WorldOf(workers, servers)).slice_bytes;
  };
  EXPECT_EQ(slice(4, 4), 256 * kKiB);
  EXPECT_EQ(slice(8, 8), 128 * kKiB);
  EXPECT_EQ(slice(16, 16), 64 * kKiB);
  EXPECT_EQ(slice(64, 64), 48 * kKiB) << "smaller ones cost too much processor time";
  EXPECT_EQ(Choose(Between(0), {}, WorldOf(8, 8)).slice_bytes, 128 * kKiB) << "unknown links";
}

TEST(ChooseSliceSizes, AWindowIsThreeSlicesAndARoundTrip) {
  EXPECT_EQ(Choose(Between(300 * kMbit), {}, WorldOf(4, 4)).window_bytes, 225'000U);
  // 37.5 MB/s in 40 ms, of which each of four servers has a quarter
  EXPECT_EQ(Choose(Between(300 * kMbit, 0.04), {}, WorldOf(4, 4)).window_bytes, 600'000U);
}

TEST(ChooseSliceSizes, LeaveBucketsWholeWithinAHost) {
  const SliceSizes sizes = Choose({.bytes_per_s = 300 * kMbit}, {}, WorldOf(4, 4));
  EXPECT_EQ(sizes.slice_bytes, 0U);
  EXPECT_EQ(sizes.window_bytes, 32 * kMiB) << "eight buckets";
}

TEST(ChooseSliceSizes, LeaveBucketsWholeWhereTheyMustBe) {
  const WantedSizes whole{.whole_buckets = true, .slice_bytes = 64 * kKiB};
  const SliceSizes sizes = Choose(Between(300 * kMbit), whole, WorldOf(4, 4));
  EXPECT_EQ(sizes.slice_bytes, 0U);
  EXPECT_EQ(sizes.window_bytes, 16 * kMiB) << "half as much between hosts";
}

TEST(ChooseSliceSizes, HaveNoWindowOfWholeBucketsWhereNobodyWouldGain) {
  EXPECT_EQ(Choose({}, {}, WorldOf(1, 1)).window_bytes, 0U);
  EXPECT_EQ(Choose({}, {.order = SendOrder::kPriority}, WorldOf(4, 4)).window_bytes, 0U);
}

TEST(ChooseSliceSizes, TakeWhatARunAsksFor) {
  const WantedSizes wanted{.slice_bytes = 20 * kKiB, .window_bytes = 90 * kKiB};
  for (const LinkFacts& links : {LinkFacts{}, Between(300 * kMbit)}) {
    const SliceSizes sizes = Choose(links, wanted, WorldOf(4, 4));
    EXPECT_EQ(sizes.slice_bytes, 20 * kKiB);
    EXPECT_EQ(sizes.window_bytes, 90 * kKiB);
  }
}

std::vector<SendLimits> LimitsOf(const SliceSizes& sizes, LinkScope scope, const World& world) {
  const BucketPlan plan = PlanOf(kMiB);
  const SlicePlan slices(plan, world, sizes.slice_bytes / sizeof(float));
  return PlanSendLimits(sizes, scope, plan, slices);
}

TEST(PlanSendLimits, KeepSlicesInOrderBetweenHosts) {
  const SliceSizes sizes{.slice_bytes = 64 * kKiB, .window_bytes = 192 * kKiB};
  for (const SendLimits& server : LimitsOf(sizes, LinkScope::kInterHost, WorldOf(4, 4))) {
    EXPECT_NEAR(server.share, 0.25, 0.001);
    EXPECT_EQ(server.unsent, 64 * kKiB) << "one slice";
    EXPECT_EQ(server.kernel_unsent, 64 * kKiB);
    EXPECT_EQ(server.connections, 1U);
    EXPECT_EQ(server.unanswered, 192 * kKiB) << "three slices, although shares are not quite equal";
  }
}

TEST(PlanSendLimits, GrowWithTheShareOfAServer) {
  const SliceSizes sizes{.slice_bytes = 64 * kKiB, .window_bytes = 192 * kKiB};
  const auto limits = LimitsOf(sizes, LinkScope::kInterHost, WorldOf(4, 2, 4));
  EXPECT_EQ(limits.front().unanswered, 6 * 64 * kKiB) << "0.3 of the plan, by six servers";
  EXPECT_EQ(limits.back().unanswered, 2 * 64 * kKiB) << "0.1 of it";
}

TEST(MeanWindowBytes, IsThatInForceAndNotTheOneAskedFor) {
  const SliceSizes sizes{.slice_bytes = 64 * kKiB, .window_bytes = 150 * kKiB};
  EXPECT_EQ(MeanWindowBytes(LimitsOf(sizes, LinkScope::kInterHost, WorldOf(4, 4))), 3 * 64 * kKiB);
  const std::vector<SendLimits> uneven{{.unanswered = 6}, {.unanswered = 2}, {.unanswered = 1}};
  EXPECT_EQ(MeanWindowBytes(uneven), 3);
  EXPECT_EQ(MeanWindowBytes(LimitsOf({}, LinkScope::kIntraHost, WorldOf(2, 2))), 0) << "no limit";
  EXPECT_EQ(MeanWindowBytes({}), 0);
}

TEST(PlanSendLimits, OfWholeBuckets) {
  const SliceSizes sizes{.slice_bytes = 0, .window_bytes = 8 * kMiB};
  const SendLimits here = LimitsOf(sizes, LinkScope::kIntraHost, WorldOf(2, 1)).front();
  EXPECT_EQ(here.unsent, 2 * kMiB);
  EXPECT_EQ(here.unanswered, 8 * kMiB);
  EXPECT_EQ(here.kernel_unsent, 128 * kKiB);
  EXPECT_EQ(here.connections, 2U);
  EXPECT_EQ(LimitsOf(sizes, LinkScope::kInterHost, WorldOf(2, 1)).front().unsent, kMiB);
  EXPECT_EQ(LimitsOf({}, LinkScope::kIntraHost, WorldOf(2, 1)).front().unanswered, std::nullopt);
}

}  // namespace
}  // namespace ringside
