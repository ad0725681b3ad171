#include "ringside/experiments/job/summary/ordered_step_bound.h"

#include <gtest/gtest.h>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/network/network_spec.h"
#include "ringside/paramserver/slicing/slice_plan.h"
#include "ringside/ring/strategies/periodic_rule.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

constexpr double kBytes = 100e6;
constexpr double kBitsPerSecond = 1e9;

/// The time that M bytes take over one link.
double LinkMs() { return 1000 * kBytes / GoodputBytesPerSecond(kBitsPerSecond); }

RunSpec SpecOf(const std::string& strategy, int workers, int servers, bool colocated = false) {
  RunSpec spec = ProfileSpec(strategy, workers, 4);
  spec.servers = servers;
  spec.colocated = colocated;
  spec.link_bits_per_s = kBitsPerSecond;
  return spec;
}

/// Ten buckets of one size.
OrderedStepInput InputOf(double compute_ms) {
  return {.compute_ms = compute_ms,
          .forward_ms = compute_ms / 3,
          .gradient_bytes = kBytes,
          .parameter_bytes = kBytes,
          .last_bucket = 0.1};
}

std::optional<OrderedStepBound> Order(const RunSpec& spec, const OrderedStepInput& input) {
  const auto bound = BoundOf(spec, spec.workers, input.gradient_bytes, input.parameter_bytes);
  return OrderedStepBoundOf(spec, bound.value(), input);
}

TEST(OrderedStepBound, TheForwardPassOfFifoHasNothingToOverlapWith) {
  RunSpec spec = SpecOf("ring", 4, 0);
  const double comm_ms = 1.5 * LinkMs();
  EXPECT_DOUBLE_EQ(Order(spec, InputOf(300))->step_ms, comm_ms + 100);
  EXPECT_DOUBLE_EQ(Order(spec, InputOf(300))->compute_ms, 100);
  EXPECT_EQ(Order(spec, InputOf(300))->last_bucket_ms, 0) << "links are full both ways to the end";
  spec.options.order = SendOrder::kPriority;
  EXPECT_DOUBLE_EQ(Order(spec, InputOf(300))->step_ms, comm_ms);
  spec.overlap = false;
  EXPECT_DOUBLE_EQ(Order(spec, InputOf(300))->step_ms, comm_ms + 300);
}

TEST(OrderedStepBound, ServersAnswerTheLastBucketWhenTheyHaveAllOfIt) {
  OrderedStepInput input = InputOf(0);
  input.busiest_link_bytes = 4 * kBytes;  // the link of the only server
  EXPECT_DOUBLE_EQ(Order(SpecOf("ps-sync", 4, 1), input)->step_ms, 4.4 * LinkMs());
  input.busiest_link_bytes =
      1.5 * kBytes;  // of four servers in workers; each has other answers to send
  EXPECT_DOUBLE_EQ(Order(SpecOf("ps-sync", 4, 4, true), input)->step_ms, 1.5 * LinkMs());
}

TEST(OrderedStepBound, WithoutWaitingForOthersTheirComputeHidesBehindOnesPushes) {
  OrderedStepInput input = InputOf(1.5 * LinkMs());
  input.busiest_link_bytes = 4 * kBytes;
  for (const char* strategy : {"ps-async", "ps-ssp", "ps-backup"}) {
    const auto order = Order(SpecOf(strategy, 4, 1), input);
    EXPECT_DOUBLE_EQ(order->step_ms, 4 * LinkMs()) << strategy;
    EXPECT_EQ(order->compute_ms + order->last_bucket_ms, 0) << strategy;
  }
  // One worker's step alone takes the forward pass (half of LinkMs), its pushes, and the answer for
  // the last bucket.
  input.busiest_link_bytes = kBytes;
  const auto alone = Order(SpecOf("ps-async", 4, 4), input);
  EXPECT_NEAR(alone->step_ms, 1.7 * LinkMs(), 1e-6) << "all of the compute, and there and back";
  input = InputOf(0.9 * LinkMs());
  input.busiest_link_bytes = kBytes;
  EXPECT_NEAR(Order(SpecOf("ps-async", 4, 4), input)->step_ms, 1.4 * LinkMs(), 1e-6);
}

TEST(OrderedStepBound, WholeBucketsLeaveServersUnevenParts) {
  OrderedStepInput input = InputOf(0);
  input.busiest_link_bytes = 1.2 * kBytes;  // three of ten buckets from each of four workers
  const auto order = Order(SpecOf("ps-sync", 4, 4), input);
  EXPECT_NEAR(order->uneven_ms, 0.2 * LinkMs(), 1e-9);
  EXPECT_NEAR(order->step_ms, 1.6 * LinkMs(), 1e-9);
  RunSpec racks = SpecOf("ps-sync", 4, 4);
  racks.network = ParseNetwork("rate=1Gbps,racks=2,uplink=1Gbps");
  const double comm_ms = *BoundOf(racks, 4, kBytes, kBytes)->comm_ms;
  EXPECT_DOUBLE_EQ(Order(racks, input)->step_ms, comm_ms) << "nothing is said of their links";
}

TEST(OrderedStepBound, EvenPartsAreEvenUnderACodecThatAnswersInFull) {
  OrderedStepInput input = InputOf(0);
  input.gradient_bytes = kBytes / 4;
  const std::vector<double> quarters(4, 0.25);
  for (const bool colocated : {false, true}) {
    const World world{.workers = 4, .servers = 4, .colocated_servers = colocated ? 4 : 0};
    input.busiest_link_bytes =
        BusiestLinkBytes(quarters, world, {input.gradient_bytes, input.parameter_bytes});
    EXPECT_NEAR(Order(SpecOf("ps-sync", 4, 4, colocated), input)->uneven_ms, 0, 1e-9);
  }
}

TEST(OrderedStepBound, WhereComputeIsLongerTheLastBucketStillHasItsWholeWay) {
  OrderedStepInput input = InputOf(100 * LinkMs());
  EXPECT_NEAR(Order(SpecOf("ring", 4, 0), input)->last_bucket_ms, 0.15 * LinkMs(), 1e-9);
  input.busiest_link_bytes = 4 * kBytes;
  const auto order = Order(SpecOf("ps-sync", 4, 1), input);
  EXPECT_NEAR(order->last_bucket_ms, 0.8 * LinkMs(), 1e-9) << "there and back";
  EXPECT_NEAR(order->step_ms, 100.8 * LinkMs(), 1e-6);
  EXPECT_EQ(order->compute_ms, 0) << "it is in the bound";
  input.busiest_link_bytes = 1.5 * kBytes;
  EXPECT_NEAR(Order(SpecOf("ps-sync", 4, 4, true), input)->last_bucket_ms, 0.6 * LinkMs(), 1e-9);
}

TEST(OrderedStepBound, IsUnknownWithoutABoundOfTime) {
  RunSpec spec = SpecOf("ring", 4, 0);
  spec.link_bits_per_s = 0;
  EXPECT_FALSE(Order(spec, InputOf(1)));
  EXPECT_FALSE(Order(SpecOf("none", 4, 0), InputOf(1)));
  RunSpec periodic = SpecOf("local-sgd", 4, 0);
  periodic.options.Set(kSyncEvery, 4);
  EXPECT_FALSE(Order(periodic, InputOf(1)));
}

}  // namespace
}  // namespace ringside
