#include "ringside/common/core/bucket_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace ringside {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::vector<TensorSpec> Specs(const std::vector<std::size_t>& sizes) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < sizes.size(); ++i) specs.push_back({std::to_string(i), sizes[i]});
  return specs;
}

std::vector<std::size_t> BucketSizes(const BucketPlan& plan) {
  std::vector<std::size_t> sizes;
  for (int b = 0; b < plan.buckets(); ++b) sizes.push_back(plan.range(b).size());
  return sizes;
}

// In floats, to keep the numbers of the tests readable.
BucketPlan MakePlan(const std::vector<std::size_t>& sizes, std::size_t target, std::size_t first) {
  return BucketPlan(Specs(sizes), {.target_bytes = 4 * target, .first_bytes = 4 * first});
}

TEST(BucketPlanTest, CoalescesSmallTensorsUntilTheTarget) {
  const BucketPlan plan = MakePlan({10, 10, 30, 5, 5, 20, 1}, 50, 20);
  EXPECT_THAT(BucketSizes(plan), ElementsAre(20, 60, 1));
}

TEST(BucketPlanTest, FirstBucketIsSmaller) {
  EXPECT_THAT(BucketSizes(MakePlan({16, 16, 16, 16, 16, 16}, 64, 16)), ElementsAre(16, 64, 16));
  EXPECT_THAT(BucketSizes(MakePlan({16, 16, 16, 16, 16, 16}, 64, 640)), ElementsAre(64, 32))
      << "never larger than the target";
}

TEST(BucketPlanTest, FirstBucketIsSmallerWhereALargeTensorFillsIt) {
  EXPECT_THAT(BucketSizes(MakePlan({16, 1000}, 256, 64)), ElementsAre(64, 240, 240, 240, 232));
  EXPECT_THAT(BucketSizes(MakePlan({16, 80, 200}, 256, 64)), ElementsAre(96, 200))
      << "half as large again is left alone";
  EXPECT_THAT(BucketSizes(MakePlan({16, 112, 200}, 256, 64)), ElementsAre(64, 264))
      << "what is over joins the next";
}

TEST(BucketPlanTest, SplitsALargeTensorIntoEqualAlignedPieces) {
  const BucketPlan plan = MakePlan({1000}, 256, 256);
  EXPECT_THAT(BucketSizes(plan), ElementsAre(256, 256, 256, 232));
  for (int b = 0; b < plan.buckets(); ++b) EXPECT_EQ(plan.range(b).begin % 16, 0U);
  EXPECT_EQ(plan.first_bucket(0), 0);
  EXPECT_EQ(plan.last_bucket(0), 3);
}

TEST(BucketPlanTest, CutsWithinATensorLieOnMultiplesOf16WhereverItBegins) {
  EXPECT_THAT(BucketSizes(MakePlan({20, 80}, 50, 20)), ElementsAre(20, 44, 36));
}

TEST(BucketPlanTest, TargetZeroPutsEveryTensorAlone) {
  const BucketPlan plan = MakePlan({3, 100000, 0, 1}, 0, 64);
  EXPECT_THAT(BucketSizes(plan), ElementsAre(3, 100000, 1));
}

TEST(BucketPlanTest, EmptyTensorsBelongToNoBucket) {
  const BucketPlan plan = MakePlan({0, 8, 0, 8, 0}, 8, 8);
  EXPECT_THAT(BucketSizes(plan), ElementsAre(8, 8));
  EXPECT_EQ(plan.tensors(), 5);
  for (const int tensor : {0, 2, 4}) EXPECT_GT(plan.first_bucket(tensor), plan.last_bucket(tensor));
  EXPECT_EQ(plan.first_bucket(3), 1);
}

TEST(BucketPlanTest, NoElementsNoBuckets) {
  EXPECT_EQ(MakePlan({}, 64, 16).buckets(), 0);
  EXPECT_EQ(MakePlan({0, 0}, 64, 16).buckets(), 0);
  EXPECT_EQ(BucketPlan().elements(), 0U);
}

// Coverage, order and the maps between tensors and buckets, over many random shapes.
class BucketPlanPropertyTest : public ::testing::TestWithParam<int> {};

BucketPlan RandomPlan(std::mt19937& random) {
  std::vector<std::size_t> sizes(random() % 40);
  for (std::size_t& size : sizes) size = random() % 4 == 0 ? random() % 5000 : random() % 70;
  return MakePlan(sizes, random() % 500, random() % 200);
}

TEST_P(BucketPlanPropertyTest, BucketsAreContiguousDisjointAndCovering) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const BucketPlan plan = RandomPlan(random);
  std::size_t end = 0;
  for (int b = 0; b < plan.buckets(); ++b) {
    EXPECT_EQ(plan.range(b).begin, end);
    EXPECT_GT(plan.range(b).size(), 0U);
    end = plan.range(b).end;
  }
  EXPECT_EQ(end, plan.elements());
}

TEST_P(BucketPlanPropertyTest, TensorsMapToExactlyTheBucketsThatOverlapThem) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const BucketPlan plan = RandomPlan(random);
  for (int t = 0; t < plan.tensors(); ++t) {
    const BucketPlan::Range tensor = plan.tensor_range(t);
    for (int b = 0; b < plan.buckets(); ++b) {
      const BucketPlan::Range bucket = plan.range(b);
      const bool overlaps = std::max(bucket.begin, tensor.begin) < std::min(bucket.end, tensor.end);
      EXPECT_EQ(overlaps, plan.first_bucket(t) <= b && b <= plan.last_bucket(t));
    }
  }
}

TEST_P(BucketPlanPropertyTest, EveryServerIsWithinOneBucketOfTheMean) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const BucketPlan plan = RandomPlan(random);
  for (const int servers : {1, 2, 3, 7}) {
    const std::vector<int> owner = plan.AssignServers(servers);
    ASSERT_EQ(owner.size(), static_cast<std::size_t>(plan.buckets()));
    std::vector<std::size_t> load(static_cast<std::size_t>(servers), 0);
    std::size_t largest = 0;
    for (int b = 0; b < plan.buckets(); ++b) {
      load.at(static_cast<std::size_t>(owner[static_cast<std::size_t>(b)])) += plan.range(b).size();
      largest = std::max(largest, plan.range(b).size());
    }
    const std::size_t mean = plan.elements() / static_cast<std::size_t>(servers);
    EXPECT_LE(*std::ranges::max_element(load), mean + largest);
  }
}

TEST_P(BucketPlanPropertyTest, IsAPureFunction) {
  std::mt19937 one(static_cast<unsigned>(GetParam()));
  std::mt19937 two(static_cast<unsigned>(GetParam()));
  const BucketPlan a = RandomPlan(one);
  const BucketPlan b = RandomPlan(two);
  EXPECT_EQ(BucketSizes(a), BucketSizes(b));
  EXPECT_EQ(a.Fingerprint(), b.Fingerprint());
  EXPECT_EQ(a.AssignServers(3), b.AssignServers(3));
}

INSTANTIATE_TEST_SUITE_P(RandomShapes, BucketPlanPropertyTest, ::testing::Range(0, 50));

TEST(BucketPlanTest, LargestBucketsAreAssignedFirstToTheLeastLoadedServer) {
  const BucketPlan plan = MakePlan({10, 40, 20, 30}, 0, 0);
  EXPECT_THAT(plan.AssignServers(2), ElementsAre(0, 0, 1, 1)) << "loads 50 and 50";
  EXPECT_THAT(plan.AssignServers(1), Each(0));
}

TEST(BucketPlanTest, ServersWithoutABucketAreAllowed) {
  EXPECT_THAT(MakePlan({10, 40}, 0, 0).AssignServers(5), ElementsAre(1, 0));
}

TEST(BucketPlanTest, FingerprintSeesTensorsAndCuts) {
  const auto base = MakePlan({64, 64}, 64, 64).Fingerprint();
  EXPECT_NE(base, MakePlan({64, 65}, 64, 64).Fingerprint()) << "another size";
  EXPECT_NE(base, MakePlan({128}, 64, 64).Fingerprint()) << "same cuts, other tensors";
  EXPECT_NE(base, MakePlan({64, 64}, 128, 128).Fingerprint()) << "other cuts";
  EXPECT_NE(MakePlan({}, 64, 64).Fingerprint(), base);
  EXPECT_NE(MakePlan({30, 34}, 64, 64).Fingerprint(), MakePlan({34, 30}, 64, 64).Fingerprint())
      << "as many tensors and the same cuts";
}

}  // namespace
}  // namespace ringside
