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
  EXPECT_EQ(Choose(Between(300 * kMbit), {}, WorldOf(4, 2)).slice_bytes, 48 * kKiB);
  EXPECT_EQ(Choose(Between(1000 * kMbit), {}, WorldOf(1, 4)).slice_bytes, 250'000U);
  EXPECT_EQ(Choose(Between(10'000 * kMbit), {}, WorldOf(1, 4)).slice_bytes, 256 * kKiB);
  EXPECT_EQ(Choose(Between(0), {}, WorldOf(1, 4)).slice_bytes, 256 * kKiB) << "unknown";
}

TEST(ChooseSliceSizes, OfAllWorkersFitIntoTheQueueOfALink) {
  const auto slice = [](int workers, int servers) {
    return Choose(Between(10'000 * kMbit), {}, WorldOf(workers, servers)).slice_bytes;
  };
  EXPECT_EQ(slice(2, 4), 192 * kKiB);
  EXPECT_EQ(slice(4, 4), 96 * kKiB);
  EXPECT_EQ(slice(8, 8), 48 * kKiB);
  EXPECT_EQ(slice(16, 16), 48 * kKiB) << "smaller ones cost too much processor time";
  EXPECT_EQ(Choose(Between(0), {}, WorldOf(4, 4)).slice_bytes, 96 * kKiB) << "unknown links";
}

TEST(ChooseSliceSizes, AWindowIsThreeSlicesAndARoundTrip) {
  EXPECT_EQ(Choose(Between(300 * kMbit), {}, WorldOf(4, 4)).window_bytes, 225'000U);
  // 37.5 MB/s in 40 ms, of which each of four servers has a quarter
  EXPECT_EQ(Choose(Between(300 * kMbit, 0.04), {}, WorldOf(4, 4)).window_bytes, 600'000U);
}

TEST(ChooseSliceSizes, OfUnequalSharesFollowTheLeast) {
  // Two servers with 0.3 of the model and four with 0.1: as many as two that are equally fast.
  const World world = WorldOf(4, 2, 4);
  const SliceSizes sizes = Choose(Between(500 * kMbit), {}, world);
  EXPECT_EQ(sizes.slice_bytes, Choose(Between(500 * kMbit), {}, WorldOf(4, 2)).slice_bytes);
  // The window is that of a server with a sixth of the model. The largest share gets three slices.
  EXPECT_NEAR(static_cast<double>(sizes.window_bytes) * 0.3 * 6,
              3.0 * static_cast<double>(sizes.slice_bytes), 8);
  const auto slices = SlicePlan(PlanOf(4 * kMiB), world, sizes.slice_bytes / sizeof(float));
  const auto limits = PlanSendLimits(sizes, LinkScope::kInterHost, PlanOf(4 * kMiB), slices);
  EXPECT_GT(limits.front().unanswered, 2 * sizes.slice_bytes);
  EXPECT_LE(limits.back().unanswered, sizes.slice_bytes);
}

TEST(ChooseSliceSizes, WindowsOfManyWorkersAreShorter) {
  const auto slices_in_window = [](int workers) {
    const SliceSizes sizes = Choose(Between(10'000 * kMbit), {}, WorldOf(workers, workers));
    return sizes.window_bytes / sizes.slice_bytes;
  };
  EXPECT_EQ(slices_in_window(4), 3U);
  EXPECT_EQ(slices_in_window(8), 3U);
  EXPECT_EQ(slices_in_window(16), 2U);
}

TEST(ChooseSliceSizes, OfAllPairsFitIntoTheQueueOfAnUplink) {
  const auto between_racks = [](const World& world) {
    LinkFacts links = Between(1000 * kMbit);
    links.racks = 2;
    return Choose(links, {}, world);
  };
  const SliceSizes few = between_racks(WorldOf(8, 2));
  EXPECT_EQ(few.slice_bytes, 48 * kKiB) << "as without racks";
  EXPECT_EQ(few.window_bytes, 96 * kKiB);
  const SliceSizes more = between_racks(WorldOf(8, 4));
  EXPECT_EQ(more.slice_bytes, 24 * kKiB);
  EXPECT_EQ(more.window_bytes, 48 * kKiB);
  const SliceSizes inside = between_racks(WorldOf(8, 0, 8));
  EXPECT_EQ(inside.slice_bytes, 24 * kKiB) << "half of the pairs are in different racks";
  EXPECT_EQ(inside.window_bytes, 48 * kKiB);
  const SliceSizes many = between_racks(WorldOf(8, 8));
  EXPECT_EQ(many.slice_bytes, 24 * kKiB);
  EXPECT_EQ(many.window_bytes, 24 * kKiB);
  const SliceSizes most = between_racks(WorldOf(32, 32));
  EXPECT_EQ(most.slice_bytes, 24 * kKiB) << "smaller ones cost too much processor time";
  EXPECT_EQ(most.window_bytes, 24 * kKiB);
}

TEST(PlanSendLimits, PullsOfAllServersFitIntoTheQueueOfAWorkersLink) {
  const SliceSizes sizes = Choose(Between(10'000 * kMbit), {}, WorldOf(16, 16));
  const BucketPlan plan = PlanOf(4 * kMiB);
  const SlicePlan slices(plan, WorldOf(16, 16), sizes.slice_bytes / sizeof(float));
  for (const SendLimits& server : PlanSendLimits(sizes, LinkScope::kInterHost, plan, slices)) {
    EXPECT_LE(16 * server.pulled.value(), 1000 * kKiB);
    EXPECT_LE(server.pulled, server.unanswered);
  }
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

TEST(ChooseSliceSizes, TreatWholeBucketsAsSlicesIfTheyAreAsSmall) {
  const World world = WorldOf(4, 4);
  const std::size_t target = SmallBucketTarget(300 * kMbit, world);
  EXPECT_EQ(target, Choose(Between(300 * kMbit), {}, world).slice_bytes);
  const BucketPlan plan = PlanOf(target);
  const SliceSizes sizes =
      ChooseSliceSizes(Between(300 * kMbit), {.whole_buckets = true}, plan, world);
  EXPECT_GE(sizes.slice_bytes, target / 2);
  EXPECT_LE(sizes.slice_bytes, 2 * target);
  const SlicePlan slices(plan, world, sizes.slice_bytes / sizeof(float));
  EXPECT_EQ(slices.slices(), plan.buckets()) << "no bucket is cut";
  // As slices, they are dealt in plan order: the first four have four owners.
  std::vector<int> owners;
  for (int i = 0; i < 4; ++i) owners.push_back(slices.slice(i).server);
  std::ranges::sort(owners);
  EXPECT_EQ(owners, (std::vector<int>{0, 1, 2, 3}));
}

TEST(ChooseSliceSizes, HaveNoWindowOfWholeBucketsWhereNobodyWouldGain) {
  EXPECT_EQ(Choose({}, {}, WorldOf(1, 1)).window_bytes, 0U);
  EXPECT_EQ(Choose({}, {.order = SendOrder::kPriority}, WorldOf(4, 4)).window_bytes, 0U);
}

TEST(ChooseSliceSizes, UnderPriorityLittleIsOnItsWayBeforeAnUrgentSlice) {
  for (const double rate : {100 * kMbit, 300 * kMbit, 10'000 * kMbit, 0.0}) {
    const auto of = [&](int servers) {
      return Choose(Between(rate), {.order = SendOrder::kPriority}, WorldOf(4, servers));
    };
    EXPECT_EQ(of(4).slice_bytes, 24 * kKiB);
    EXPECT_EQ(of(4).window_bytes, 48 * kKiB) << "two slices";
    EXPECT_EQ(of(1).window_bytes, 96 * kKiB) << "one server alone must keep the link busy";
  }
  const WantedSizes whole{.whole_buckets = true, .order = SendOrder::kPriority};
  EXPECT_EQ(
      ChooseSliceSizes(Between(300 * kMbit), whole, PlanOf(64 * kKiB), WorldOf(4, 4)).slice_bytes,
      64 * kKiB)
      << "such buckets are never cut";
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
