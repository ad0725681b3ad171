#include "ringside/paramserver/slicing/slice_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kElements = 25'000'000;  // 100 MB
constexpr std::size_t kSlice = 16 << 10;       // elements

BucketPlan PlanOf(std::size_t bucket_bytes) {
  const std::vector<TensorSpec> tensors{{"all", kElements}};
  return {tensors, {bucket_bytes, bucket_bytes}};
}

World WorldOf(int workers, int dedicated, int colocated) {
  World world = TestWorld(0, workers, dedicated + colocated);
  world.colocated_servers = colocated;
  return world;
}

TEST(SlicePlan, CoversEveryBucketOnceAtAlignedCuts) {
  const std::vector<TensorSpec> tensors{{"a", 5}, {"b", 1000}, {"c", 333}, {"d", 1}};
  const BucketPlan plan(tensors, {4 * 500, 4 * 500});
  for (const std::size_t most : {1, 16, 40, 100, 5000}) {
    const SlicePlan slices(plan, WorldOf(2, 3, 0), most);
    ASSERT_EQ(slices.buckets(), plan.buckets());
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      std::size_t begin = plan.range(bucket).begin;
      for (int i = slices.first_slice(bucket); i < slices.end_slice(bucket); ++i) {
        const Slice& slice = slices.slice(i);
        EXPECT_EQ(slice.bucket, bucket);
        EXPECT_EQ(slice.begin, begin);
        EXPECT_EQ((slice.begin - plan.range(bucket).begin) % 16, 0U);
        EXPECT_EQ(slice.leads, i == slices.first_slice(bucket));
        EXPECT_GT(slice.size, 0U);
        EXPECT_LE(slice.size, std::max<std::size_t>(most, 16));
        begin += slice.size;
      }
      EXPECT_EQ(begin, plan.range(bucket).end) << bucket;
    }
  }
}

TEST(SlicePlan, ZeroLeavesBucketsWhole) {
  const BucketPlan plan = PlanOf(1 << 20);
  const SlicePlan slices(plan, WorldOf(4, 2, 0), 0);
  ASSERT_EQ(slices.slices(), plan.buckets());
  for (int i = 0; i < slices.slices(); ++i) {
    EXPECT_EQ(slices.slice(i).size, plan.range(i).size());
    EXPECT_TRUE(slices.slice(i).leads);
  }
}

TEST(SlicePlan, GivesServersOfOneKindEqualShares) {
  for (const std::size_t most : {std::size_t{0}, kSlice}) {
    for (const World& world :
         {WorldOf(4, 3, 0), WorldOf(4, 0, 4), WorldOf(2, 0, 2), WorldOf(1, 0, 1)}) {
      const SlicePlan slices(PlanOf(100'000), world, most);
      for (const double share : slices.shares()) {
        EXPECT_NEAR(share, 1.0 / world.servers, 0.01) << world.servers;
      }
    }
  }
}

TEST(SlicePlan, ApproachesTheProportionOfBytePs) {
  for (const std::size_t most : {std::size_t{0}, kSlice}) {
    for (const int n : {2, 3, 4, 8}) {
      for (int k = 1; k <= n; ++k) {
        const World world = WorldOf(n, k, n);
        const SlicePlan slices(PlanOf(100'000), world, most);
        const double whole = n * n + k * n - 2 * k;
        for (int server = 0; server < world.servers; ++server) {
          const double expected =
              server < k ? (k == n ? 1.0 / k : 2 * (n - 1) / whole) : (n - k) / whole;
          EXPECT_NEAR(slices.shares()[static_cast<std::size_t>(server)], expected, 0.01)
              << "server " << server << " of n=" << n << ", k=" << k;
        }
      }
    }
  }
}

TEST(SlicePlan, AWorkerAloneWithServersOfBothKindsUsesTheDedicatedOnes) {
  const SlicePlan slices(PlanOf(100'000), WorldOf(1, 1, 1), kSlice);
  EXPECT_THAT(slices.shares(), ElementsAre(::testing::DoubleNear(1, 1e-9), 0));
}

// Whatever part of the backward pass is over, no server has more than a slice too much.
TEST(SlicePlan, SpreadsEveryPrefixOfThePlan) {
  const World world = WorldOf(4, 4, 0);
  const SlicePlan slices(PlanOf(4 << 20), world, kSlice);
  std::vector<std::size_t> owned(4);
  for (int i = 0; i < slices.slices(); ++i) {
    const Slice& slice = slices.slice(i);
    owned[static_cast<std::size_t>(slice.server)] += slice.size;
    const auto [least, most] = std::ranges::minmax(owned);
    ASSERT_LE(most - least, kSlice) << "after slice " << i;
  }
}

TEST(SlicePlan, KeepsTheBusiestLinkAtTheBound) {
  const World world = WorldOf(4, 2, 4);
  const auto busiest = [&](std::size_t bucket_bytes, std::size_t most) {
    const SlicePlan slices(PlanOf(bucket_bytes), world, most);
    return BusiestLinkBytes(slices.shares(), world, {1, 1});
  };
  EXPECT_LT(busiest(4 << 20, 0), 1.2 * 1.05) << "whole buckets of ordinary size";
  EXPECT_LT(busiest(4 << 20, kSlice), 1.2 * 1.002);
  EXPECT_GE(busiest(4 << 20, kSlice), 1.2 * (1 - 1e-9));
}

TEST(SlicePlan, HasAFingerprintOfItsCutsAndServers) {
  const BucketPlan plan = PlanOf(1 << 20);
  const std::uint64_t whole = SlicePlan(plan, WorldOf(2, 2, 0), 0).Fingerprint();
  EXPECT_EQ(whole, SlicePlan(plan, WorldOf(2, 2, 0), 0).Fingerprint());
  EXPECT_NE(whole, SlicePlan(plan, WorldOf(2, 3, 0), 0).Fingerprint());
  EXPECT_NE(whole, SlicePlan(plan, WorldOf(2, 2, 0), kSlice).Fingerprint());
  EXPECT_NE(whole, SlicePlan(PlanOf(2 << 20), WorldOf(2, 2, 0), 0).Fingerprint());
}

TEST(SlicePlan, OfAnEmptyModel) {
  const SlicePlan slices(BucketPlan({}, {4, 4}), WorldOf(2, 2, 0), 16);
  EXPECT_EQ(slices.slices(), 0);
  EXPECT_EQ(slices.largest(), 0U);
  EXPECT_THAT(slices.shares(), ElementsAre(0, 0));
}

TEST(BusiestLinkBytes, AreAWorkersOrAServers) {
  const StepBytes bytes{.gradients = 100, .parameters = 100};
  const auto busiest = [&](std::vector<double> shares, const World& world) {
    return BusiestLinkBytes(shares, world, bytes);
  };
  EXPECT_DOUBLE_EQ(busiest({0.75, 0.25}, WorldOf(4, 2, 0)), 300);  // 4 x three quarters
  EXPECT_DOUBLE_EQ(busiest({1, 0}, WorldOf(4, 2, 0)), 400);
  EXPECT_DOUBLE_EQ(busiest({0.75, 0.25}, WorldOf(4, 0, 2)), 250);
  EXPECT_DOUBLE_EQ(busiest({0.75, 0.25}, WorldOf(1, 2, 0)), 100);
}

TEST(BusiestLinkBytes, OfACodecThatMakesOneDirectionShorter) {
  const StepBytes bytes{.gradients = 100, .parameters = 400};
  const std::vector<double> quarters(4, 0.25);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(quarters, WorldOf(4, 4, 0), bytes), 400);
  // Three quarters of its own gradients, and a quarter of the parameters to each of three.
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(quarters, WorldOf(4, 0, 4), bytes), 75 + 300);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(std::vector<double>{0.5, 0.5}, WorldOf(4, 0, 2), bytes),
                   50 + 600);
}

}  // namespace
}  // namespace ringside
