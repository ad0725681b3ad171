#include "ringside/experiments/job/summary/achievable.h"

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

/// Ten buckets of one size, a third of the compute in the forward pass. All buckets but the last
/// are ready when the backward pass begins.
AchievableInput InputOf(double compute_ms) {
  return {.compute_ms = compute_ms,
          .forward_ms = compute_ms / 3,
          .gradient_bytes = kBytes,
          .parameter_bytes = kBytes,
          .bucket_shares = std::vector<double>(10, 0.1),
          .ready_shares = {}};
}

/// Servers that own equal shares and get slices of 1 % of the bytes.
AchievableInput SlicesOf(double compute_ms, double busiest_link_bytes) {
  AchievableInput input = InputOf(compute_ms);
  input.busiest_link_bytes = busiest_link_bytes;
  input.slice_share = 0.01;
  return input;
}

std::optional<Achievable> Of(const RunSpec& spec, const AchievableInput& input) {
  const auto bound = BoundOf(spec, spec.workers, input.gradient_bytes, input.parameter_bytes);
  return AchievableOf(spec, bound.value(), input);
}

/// What the parts leave of the step.
double WithoutParts(const Achievable& achievable) {
  return achievable.step_ms - achievable.compute_ms - achievable.phases_ms - achievable.uneven_ms -
         achievable.readiness_ms - achievable.tail_ms;
}

TEST(Achievable, TheForwardPassOfFifoHasNothingToOverlapWith) {
  RunSpec spec = SpecOf("ring", 4, 0);
  const double comm_ms = 1.5 * LinkMs();
  EXPECT_DOUBLE_EQ(Of(spec, InputOf(300))->step_ms, comm_ms + 100);
  EXPECT_DOUBLE_EQ(Of(spec, InputOf(300))->compute_ms, 100);
  EXPECT_EQ(Of(spec, InputOf(300))->tail_ms, 0) << "no link waits after the last byte";
  spec.options.order = SendOrder::kPriority;
  EXPECT_DOUBLE_EQ(Of(spec, InputOf(300))->step_ms, comm_ms);
  spec.overlap = false;
  EXPECT_DOUBLE_EQ(Of(spec, InputOf(300))->step_ms, comm_ms + 300);
  EXPECT_DOUBLE_EQ(Of(spec, InputOf(300))->compute_ms, 300);
}

// The two buckets take 0.15 L and 1.35 L; the backward pass takes 0.2 L.
TEST(Achievable, ALateBucketKeepsTheLinkWaiting) {
  AchievableInput input = InputOf(0.3 * LinkMs());
  input.bucket_shares = {0.1, 0.9};
  input.ready_shares = {0.25, 1};
  const Achievable late = *Of(SpecOf("ring", 4, 0), input);
  EXPECT_NEAR(late.compute_ms, 0.1 * LinkMs(), 1e-9);
  EXPECT_NEAR(late.readiness_ms, 0.05 * LinkMs(), 1e-9) << "0.2 + 1.35 L, and not 0.05 + 1.5 L";
  EXPECT_NEAR(late.step_ms, 1.65 * LinkMs(), 1e-9);
  input.ready_shares = {0.5, 0.6};
  const Achievable early = *Of(SpecOf("ring", 4, 0), input);
  EXPECT_NEAR(early.readiness_ms, 0.1 * LinkMs(), 1e-9) << "the first bucket decides: 0.1 + 1.5 L";
  input.ready_shares = {0, 0};
  EXPECT_NEAR(Of(SpecOf("ring", 4, 0), input)->readiness_ms, 0, 1e-9);
}

TEST(Achievable, TheLastSliceIsAnsweredToAllWorkers) {
  const Achievable dedicated = *Of(SpecOf("ps-sync", 4, 4), SlicesOf(0.3 * LinkMs(), kBytes));
  EXPECT_NEAR(dedicated.tail_ms, 0.04 * LinkMs(), 1e-9) << "N a / B";
  EXPECT_NEAR(dedicated.compute_ms, 0.1 * LinkMs(), 1e-9);
  EXPECT_EQ(dedicated.uneven_ms, 0);
  EXPECT_NEAR(dedicated.step_ms, 1.14 * LinkMs(), 1e-9);
  const Achievable inside =
      *Of(SpecOf("ps-sync", 4, 4, true), SlicesOf(0.3 * LinkMs(), 1.5 * kBytes));
  EXPECT_NEAR(inside.tail_ms, 0.02 * LinkMs(), 1e-9) << "half";
  EXPECT_NEAR(inside.step_ms, 1.62 * LinkMs(), 1e-9);
}

TEST(Achievable, ServersAnswerTheLastWholeBucketWhenTheyHaveAllOfIt) {
  AchievableInput input = InputOf(0);
  input.busiest_link_bytes = 4 * kBytes;  // the link of the only server
  EXPECT_DOUBLE_EQ(Of(SpecOf("ps-sync", 4, 1), input)->step_ms, 4.4 * LinkMs());
  input.busiest_link_bytes =
      1.5 * kBytes;  // of four servers in workers; each has other answers to send
  EXPECT_DOUBLE_EQ(Of(SpecOf("ps-sync", 4, 4, true), input)->step_ms, 1.5 * LinkMs());
}

TEST(Achievable, WithoutWaitingForOthersTheirComputeHidesBehindOnesPushes) {
  AchievableInput input = InputOf(1.5 * LinkMs());
  input.busiest_link_bytes = 4 * kBytes;
  for (const char* strategy : {"ps-async", "ps-ssp", "ps-backup"}) {
    const Achievable step = *Of(SpecOf(strategy, 4, 1), input);
    EXPECT_DOUBLE_EQ(step.step_ms, 4 * LinkMs()) << strategy;
    EXPECT_EQ(step.compute_ms + step.readiness_ms + step.tail_ms, 0) << strategy;
  }
  // One worker's step alone takes the forward pass (half of LinkMs), its pushes, and the answer for
  // the last bucket.
  input.busiest_link_bytes = kBytes;
  const auto alone = Of(SpecOf("ps-async", 4, 4), input);
  EXPECT_NEAR(alone->step_ms, 1.7 * LinkMs(), 1e-6) << "all of the compute, and there and back";
  input = InputOf(0.9 * LinkMs());
  input.busiest_link_bytes = kBytes;
  EXPECT_NEAR(Of(SpecOf("ps-async", 4, 4), input)->step_ms, 1.4 * LinkMs(), 1e-6);
}

// The last of ten buckets takes a tenth of a worker's time there and the same back.
TEST(Achievable, AServerWithBackupsWaitsForTheOthersLastBucket) {
  AchievableInput input = InputOf(3 * LinkMs());
  input.busiest_link_bytes = kBytes;
  input.awaited_pushes = 3;
  EXPECT_NEAR(Of(SpecOf("ps-backup", 4, 4), input)->step_ms, (3 + 3 * 0.2) * LinkMs(), 1e-6);
  EXPECT_NEAR(Of(SpecOf("ps-backup", 4, 4, true), input)->step_ms, (3 + 2 * 0.2) * LinkMs(), 1e-6);
  input.awaited_pushes = 1;
  EXPECT_NEAR(Of(SpecOf("ps-backup", 4, 4, true), input)->step_ms, (3 + 0.2) * LinkMs(), 1e-6);
}

TEST(Achievable, WholeBucketsLeaveServersUnevenParts) {
  AchievableInput input = InputOf(0);
  input.busiest_link_bytes = 1.2 * kBytes;  // three of ten buckets from each of four workers
  const auto step = Of(SpecOf("ps-sync", 4, 4), input);
  EXPECT_NEAR(step->uneven_ms, 0.2 * LinkMs(), 1e-9);
  EXPECT_NEAR(step->step_ms, 1.6 * LinkMs(), 1e-9);
  RunSpec racks = SpecOf("ps-sync", 4, 4);
  racks.network = ParseNetwork("rate=1Gbps,racks=2,uplink=1Gbps");
  const double comm_ms = *BoundOf(racks, 4, kBytes, kBytes)->comm_ms;
  EXPECT_DOUBLE_EQ(Of(racks, input)->step_ms, comm_ms) << "nothing is said of their links";
}

TEST(Achievable, EvenPartsAreEvenUnderACodecThatAnswersInFull) {
  AchievableInput input = InputOf(0);
  input.gradient_bytes = kBytes / 4;
  const std::vector<double> quarters(4, 0.25);
  for (const bool colocated : {false, true}) {
    const World world{.workers = 4, .servers = 4, .colocated_servers = colocated ? 4 : 0};
    input.busiest_link_bytes =
        BusiestLinkBytes(quarters, world, {input.gradient_bytes, input.parameter_bytes});
    EXPECT_NEAR(Of(SpecOf("ps-sync", 4, 4, colocated), input)->uneven_ms, 0, 1e-9);
  }
}

TEST(Achievable, AnswersInFullAreLongerThanTheSlicesOfACodec) {
  AchievableInput input = SlicesOf(0, kBytes);
  input.gradient_bytes = kBytes / 4;
  EXPECT_NEAR(Of(SpecOf("ps-sync", 4, 4), input)->tail_ms, 4 * 0.01 * LinkMs(), 1e-9);
}

TEST(Achievable, WhereComputeIsLongerTheLastBucketStillHasItsWholeWay) {
  AchievableInput input = InputOf(100 * LinkMs());
  EXPECT_NEAR(Of(SpecOf("ring", 4, 0), input)->step_ms, 100.15 * LinkMs(), 1e-6);
  EXPECT_EQ(Of(SpecOf("ring", 4, 0), input)->compute_ms, 0) << "it is in the bound";
  input.busiest_link_bytes = 4 * kBytes;
  const Achievable step = *Of(SpecOf("ps-sync", 4, 1), input);
  EXPECT_NEAR(step.step_ms, 100.8 * LinkMs(), 1e-6) << "there and back";
  EXPECT_NEAR(step.readiness_ms, 0.4 * LinkMs(), 1e-6);
  EXPECT_NEAR(step.tail_ms, 0.4 * LinkMs(), 1e-6);
  input.busiest_link_bytes = 1.5 * kBytes;
  EXPECT_NEAR(Of(SpecOf("ps-sync", 4, 4, true), input)->step_ms, 100.6 * LinkMs(), 1e-6);
  RunSpec priority = SpecOf("ps-sync", 4, 1);
  priority.options.order = SendOrder::kPriority;
  input.busiest_link_bytes = 4 * kBytes;
  EXPECT_NEAR(Of(priority, input)->step_ms, 100.8 * LinkMs(), 1e-6);
}

// The last of ten buckets is ready after all compute. It takes 0.1 L, its last slice 0.04 L more.
TEST(Achievable, UnderPriorityTheForwardPassWaitsForTheWholeLastBucket) {
  RunSpec spec = SpecOf("ps-sync", 4, 4);
  const AchievableInput input = SlicesOf(100 * LinkMs(), kBytes);
  EXPECT_NEAR(Of(spec, input)->step_ms, 100.14 * LinkMs(), 1e-6);
  spec.options.order = SendOrder::kPriority;
  EXPECT_NEAR(Of(spec, input)->step_ms, 100.14 * LinkMs(), 1e-6);
}

// The forward pass takes L, the backward pass 2 L.
TEST(Achievable, TheLastBucketIsOnItsWayWhenItIsReadyAndNotAfterAllCompute) {
  AchievableInput input = InputOf(3 * LinkMs());
  input.bucket_shares = {0.9, 0.1};
  input.ready_shares = {0, 0.6};
  RunSpec fifo = SpecOf("ring", 4, 0);
  RunSpec priority = fifo;
  priority.options.order = SendOrder::kPriority;
  for (const RunSpec& spec : {fifo, priority}) {
    EXPECT_NEAR(Of(spec, input)->step_ms, 3 * LinkMs(), 1e-6) << "it is there before the end";
  }
  input.bucket_shares = {0.2, 0.8};  // R = 1.2 L
  for (const RunSpec& spec : {fifo, priority}) {
    EXPECT_NEAR(Of(spec, input)->step_ms, (1 + 0.6 * 2 + 1.2) * LinkMs(), 1e-6);
  }
  input.bucket_shares = {0.9, 0.1};
  input.ready_shares = {};
  for (const RunSpec& spec : {fifo, priority}) {
    EXPECT_NEAR(Of(spec, input)->step_ms, 3.15 * LinkMs(), 1e-6) << "ready at the end if unknown";
  }
  input.ready_shares = {0, 0};
  input.busiest_link_bytes = kBytes;
  const RunSpec server = SpecOf("ps-async", 4, 4);
  EXPECT_NEAR(Of(server, input)->step_ms, 3.1 * LinkMs(), 1e-6) << "the answer follows all compute";
  fifo.overlap = false;
  EXPECT_NEAR(Of(fifo, input)->step_ms, 4.5 * LinkMs(), 1e-6);
}

TEST(Achievable, WithDifferentRatesTheSlowestLinkCounts) {
  AchievableInput input = InputOf(3 * LinkMs());
  RunSpec alone = SpecOf("ps-async", 4, 4);
  alone.network = ParseNetwork("rate=1Gbps,rates=100Mbps");
  const double comm_ms = *BoundOf(alone, 4, kBytes, kBytes)->comm_ms;
  EXPECT_NEAR(comm_ms, 10 * LinkMs(), 1e-6);
  EXPECT_NEAR(Of(alone, input)->step_ms, 11 * LinkMs(), 1e-6) << "forward pass and pushes";
}

TEST(Achievable, DedicatedServersBesideThoseInWorkersHaveTheirWholeTail) {
  const AchievableInput input = SlicesOf(0.3 * LinkMs(), 2 * kBytes);
  EXPECT_NEAR(Of(SpecOf("mixed", 4, 2), input)->tail_ms, 0.04 * LinkMs(), 1e-9) << "N a / B";
  EXPECT_NEAR(Of(SpecOf("mixed", 4, 0), input)->tail_ms, 0.02 * LinkMs(), 1e-9) << "half";
}

TEST(Achievable, PartsAddUpToWhatIsAboveTheBoundAndNoneIsNegative) {
  for (const char* strategy : {"ring", "halving-doubling", "ps-sync", "ps-async"}) {
    for (const double compute : {0.0, 0.5, 1.2, 3.0, 9.0}) {
      for (const bool whole : {false, true}) {
        AchievableInput input = SlicesOf(compute * LinkMs(), 4.4 * kBytes);
        if (whole) input.slice_share = 0;
        input.ready_shares = {0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9};
        const RunSpec spec = SpecOf(strategy, 4, 1);
        const Achievable step = *Of(spec, input);
        const double comm_ms = *BoundOf(spec, 4, kBytes, kBytes)->comm_ms;
        const double bound_ms = std::max(comm_ms, input.compute_ms);
        EXPECT_NEAR(WithoutParts(step), bound_ms, 1e-6) << strategy << ", compute " << compute;
        EXPECT_GE(step.step_ms, bound_ms);
        for (const double part :
             {step.compute_ms, step.phases_ms, step.uneven_ms, step.readiness_ms, step.tail_ms}) {
          EXPECT_GE(part, 0) << strategy << ", compute " << compute;
        }
      }
    }
  }
}

TEST(Achievable, IsUnknownWithoutABoundOfTime) {
  RunSpec spec = SpecOf("ring", 4, 0);
  spec.link_bits_per_s = 0;
  EXPECT_FALSE(Of(spec, InputOf(1)));
  EXPECT_FALSE(Of(SpecOf("none", 4, 0), InputOf(1)));
}

// Every fourth step has a sum. It begins with the first bucket that is ready, as a ring's does.
TEST(Achievable, OfWorkersThatStepAloneIsTheMeanOverTheirSums) {
  AchievableInput input = InputOf(300);
  for (const char* strategy : {"local-sgd", "diloco"}) {
    RunSpec spec = SpecOf(strategy, 4, 0);
    spec.options.Set(kSyncEvery, 4);
    const double with_sum_ms = 100 + 1.5 * LinkMs();
    EXPECT_NEAR(Of(spec, input)->step_ms, 300 + (with_sum_ms - 300) / 4, 1e-6) << strategy;
    EXPECT_EQ(Of(spec, input)->tail_ms, 0) << strategy;
    EXPECT_NEAR(WithoutParts(*Of(spec, input)), std::max(300.0, 1.5 * LinkMs() / 4), 1e-6);
    spec.overlap = false;
    EXPECT_NEAR(Of(spec, input)->step_ms, 300 + 1.5 * LinkMs() / 4, 1e-6) << strategy;
  }
}

// The server is on the host of worker 0, whose link carries the bytes of three workers.
TEST(Achievable, ServersOnSharedHostsTakeTheTimeOfTheBusiestLink) {
  RunSpec spec = SpecOf("ps-sync", 4, 1);
  spec.network = ParseNetwork("rate=1Gbps,servers=workers");
  const Achievable step = *Of(spec, SlicesOf(300, 4 * kBytes));
  EXPECT_NEAR(step.step_ms, 100 + 3 * LinkMs(), 1e-6);
  EXPECT_EQ(step.uneven_ms, 0);
  EXPECT_EQ(step.tail_ms, 0);
}

// Eight hosts in two racks, with uplinks of the rate of one host. Within racks a rank sends 1/2 and
// 1/4 of the bytes, halving and doubling. Between racks four ranks send 1/8 each over one uplink.
TEST(Achievable, PhasesThatWaitForEachOtherAddUp) {
  RunSpec spec = SpecOf("halving-doubling", 8, 0);
  spec.network = ParseNetwork("rate=1Gbps,racks=2,uplink=1Gbps");
  const Achievable step = *Of(spec, InputOf(300));
  EXPECT_NEAR(WithoutParts(step), 1.75 * LinkMs(), 1e-6);
  EXPECT_NEAR(step.compute_ms, 100, 1e-6);
  EXPECT_NEAR(step.phases_ms, 0.75 * LinkMs(), 1e-6);
  EXPECT_NEAR(step.step_ms, 100 + 2.5 * LinkMs(), 1e-6);
  spec.network = ParseNetwork("rate=1Gbps,racks=2,uplink=4Gbps");
  EXPECT_NEAR(Of(spec, InputOf(300))->phases_ms, 0, 1e-6) << "as wide as the four links";
}

}  // namespace
}  // namespace ringside
