#include "ringside/paramserver/transports/core/server_assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

constexpr std::size_t kElements = 25'000'000;  // 100 MB

BucketPlan PlanOf(std::size_t bucket_bytes) {
  const std::vector<TensorSpec> tensors{{"all", kElements}};
  return {tensors, {bucket_bytes, bucket_bytes}};
}

World WorldOf(int workers, int dedicated, int colocated) {
  World world = TestWorld(0, workers, dedicated + colocated);
  world.colocated_servers = colocated;
  return world;
}

/// Of all elements, by server.
std::vector<double> Shares(const BucketPlan& plan, const World& world) {
  return ServerShares(plan, AssignToServers(plan, world), world.servers);
}

TEST(AssignToServers, GivesServersOfOneKindEqualShares) {
  for (const World& world :
       {WorldOf(4, 3, 0), WorldOf(4, 0, 4), WorldOf(2, 0, 2), WorldOf(1, 0, 1)}) {
    for (const double share : Shares(PlanOf(100'000), world)) {
      EXPECT_NEAR(share, 1.0 / world.servers, 0.01) << world.servers;
    }
  }
}

TEST(AssignToServers, ApproachesTheProportionOfBytePs) {
  for (const int n : {3, 4, 8}) {
    for (int k = 1; k < n; ++k) {
      const World world = WorldOf(n, k, n);
      const std::vector<double> shares = Shares(PlanOf(100'000), world);
      const double whole = n * n + k * n - 2 * k;
      for (int server = 0; server < world.servers; ++server) {
        const double expected = server < k ? 2 * (n - 1) / whole : (n - k) / whole;
        EXPECT_NEAR(shares[static_cast<std::size_t>(server)], expected, 0.01)
            << "server " << server << " of n=" << n << ", k=" << k;
      }
    }
  }
}

TEST(AssignToServers, KeepsTheBusiestLinkNearTheBoundWithBucketsOfOrdinarySize) {
  const World world = WorldOf(4, 2, 4);
  const auto busiest = [&](std::size_t bucket_bytes) {
    const BucketPlan plan = PlanOf(bucket_bytes);
    return BusiestLinkBytes(plan, AssignToServers(plan, world), world, {1, 1});
  };
  EXPECT_LT(busiest(4 << 20), 1.2 * 1.05);
  EXPECT_LT(busiest(1 << 20), 1.2 * 1.02);
  EXPECT_GE(busiest(1 << 20), 1.2);
}

TEST(BusiestLinkBytes, AreAWorkersOrAServers) {
  const std::vector<TensorSpec> tensors{{"a", 3}, {"b", 1}};
  const BucketPlan plan(tensors, {4, 4});  // a bucket each
  const StepBytes bytes{.gradients = 100, .parameters = 100};
  const World dedicated = WorldOf(4, 2, 0);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 1}, dedicated, bytes), 300);  // 4 x three quarters
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 0}, dedicated, bytes), 400);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 1}, WorldOf(4, 0, 2), bytes), 250);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 1}, WorldOf(1, 2, 0), bytes), 100);
  EXPECT_EQ(BusiestLinkBytes(BucketPlan({}, {4, 4}), {}, dedicated, bytes), 0);
}

TEST(BusiestLinkBytes, OfACodecThatMakesOneDirectionShorter) {
  const std::vector<TensorSpec> tensors{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};
  const BucketPlan plan(tensors, {4, 4});
  const StepBytes bytes{.gradients = 100, .parameters = 400};
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 1, 2, 3}, WorldOf(4, 4, 0), bytes), 400);
  // Three quarters of its own gradients, and a quarter of the parameters to each of three.
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 1, 2, 3}, WorldOf(4, 0, 4), bytes), 75 + 300);
  EXPECT_DOUBLE_EQ(BusiestLinkBytes(plan, {0, 0, 1, 1}, WorldOf(4, 0, 2), bytes), 50 + 600);
}

}  // namespace
}  // namespace ringside
