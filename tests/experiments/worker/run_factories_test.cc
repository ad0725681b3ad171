#include "ringside/experiments/worker/run_factories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/network/network_plan.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

template <typename E, typename F>
std::string MessageOf(const F& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(StartTimeout, LeavesTimeToLoad) {
  RunSpec spec = ProfileSpec("ps-async", 2, 3);
  spec.timeout_s = 1;
  EXPECT_EQ(StartTimeout(spec), std::chrono::minutes(1));
  spec.timeout_s = 120;
  EXPECT_EQ(StartTimeout(spec), std::chrono::minutes(2));
  spec.program = {"python3", "train.py"};
  EXPECT_EQ(StartTimeout(spec), std::chrono::minutes(10));
}

TEST(OperationTimeout, IsTheMachinesTimeOfADilatedRun) {
  RunSpec spec = ProfileSpec("ps-async", 2, 3);
  spec.timeout_s = 7;
  EXPECT_EQ(OperationTimeout(spec), std::chrono::seconds(7));
  const DilationScope dilation(10);
  EXPECT_EQ(OperationTimeout(spec), std::chrono::seconds(70));
  MemberSetup setup;
  setup.spec = spec;
  EXPECT_EQ(MakeCommOptions(setup).timeout, std::chrono::seconds(70));
  EXPECT_EQ(MakeCommOptions(setup).barrier_timeout, std::chrono::hours(10));
}

// The token of the coordinator may be that of older generations, too.
TEST(MakeCommOptions, ConnectionsBetweenMembersHaveTheirOwnSecret) {
  MemberSetup setup;
  setup.spec = ProfileSpec("ps-async", 2, 3);
  setup.token = "of the run";
  setup.members_token = "of the generation";
  EXPECT_EQ(MakeCommOptions(setup).token, "of the generation");
}

TEST(MakeCommOptions, TakesTheMeasuredLinkWhereNoneIsDeclared) {
  MemberSetup setup;
  setup.spec = ProfileSpec("ps-sync", 2, 3);
  EXPECT_EQ(MakeCommOptions(setup).link_bytes_per_s, 0);
  setup.measured_bytes_per_s = 1e8;
  EXPECT_EQ(MakeCommOptions(setup).link_bytes_per_s, 1e8);
  setup.spec.link_bits_per_s = 1e8;
  EXPECT_EQ(MakeCommOptions(setup).link_bytes_per_s, GoodputBytesPerSecond(1e8));
}

TEST(LargestMessageBytes, IsThatOfTheLargestBucketEncoded) {
  constexpr std::size_t kMi = 1 << 20;
  const std::array tensors{TensorSpec{"small", 1}, TensorSpec{"large", 60 * kMi}};
  const auto limit = [&](std::size_t bucket_bytes) {
    return static_cast<std::size_t>(LargestMessageBytes(
        BucketPlan(tensors, {.target_bytes = bucket_bytes, .first_bytes = bucket_bytes})));
  };
  EXPECT_EQ(limit(4 * kMi), 64 * kMi) << "a plan may be longer than a bucket";
  EXPECT_EQ(limit(0), 480 * kMi + 1024) << "a bucket is a tensor";
  const std::array huge{TensorSpec{"huge", 600 * kMi}};
  EXPECT_EQ(LargestMessageBytes(BucketPlan(huge, {.target_bytes = 0, .first_bytes = 0})),
            std::numeric_limits<int>::max());
}

TEST(PublishLargestMessage, TellsTheServersAndKeepsTheFirstValue) {
  InProcessStore store;
  const Deadline soon = Deadline::After(std::chrono::seconds(1));
  EXPECT_THROW(WaitForLargestMessage(store, Deadline::After(std::chrono::milliseconds(1))),
               CommError);
  PublishLargestMessage(store, 17);
  PublishLargestMessage(store, 17);
  PublishLargestMessage(store, 18);
  EXPECT_EQ(WaitForLargestMessage(store, soon), 17);
  MemberSetup setup;
  setup.spec = ProfileSpec("ps-sync", 2, 3);
  EXPECT_EQ(MakeCommOptions(setup, 17).largest_message_bytes, 17);
}

// Where the data's size is known only now: files.
TEST(MakeDataset, RefusesABatchThatIsLarger) {
  RunSpec spec = ProfileSpec("ring", 2, 3);
  spec.data = "digits";
  spec.global_batch = 1438;
  EXPECT_THAT(MessageOf<ConfigError>([&] { MakeDataset(spec); }),
              AllOf(HasSubstr("1438 samples"), HasSubstr("1437")));
  spec.global_batch = 1437;
  EXPECT_EQ(MakeDataset(spec)->size(Split::kTrain), 1437U);
}

TEST(WaitForTotalSteps, NamesTheWorkersThatAreNotReady) {
  InProcessStore store;
  const Deadline now = Deadline::After(std::chrono::milliseconds(1));
  const auto wait = [&](int workers) { WaitForTotalSteps(store, workers, now); };
  EXPECT_THAT(MessageOf<CommError>([&] { wait(3); }), HasSubstr("workers 0 to 2"));
  EXPECT_THAT(MessageOf<CommError>([&] { wait(1); }), HasSubstr("worker 0"));
  store.Set("job/total_steps", "17");
  EXPECT_EQ(WaitForTotalSteps(store, 3, now), 17);
}

TEST(AgreeOnSteps, WorkersWithOtherFilesAreRefusedBeforeAnyWaits) {
  InProcessStore store;
  AgreeOnSteps(store, 0, 17);
  AgreeOnSteps(store, 0, 17);
  EXPECT_EQ(WaitForTotalSteps(store, 1, Deadline::After(std::chrono::seconds(1))), 17);
  const auto agree = [&](int first, int total) { AgreeOnSteps(store, first, total); };
  EXPECT_THAT(MessageOf<ConfigError>([&] { agree(0, 16); }),
              HasSubstr("data's steps differ: 16 here, 17 at another"));
  EXPECT_THAT(MessageOf<ConfigError>([&] { agree(3, 17); }),
              HasSubstr("checkpoint's steps differ: 3 here, 0 at another"));
}

TEST(RefuseIdleServers, SaysHowManyBucketsThereAre) {
  const std::array<TensorSpec, 1> tensors{TensorSpec{"weight", 4}};
  RunSpec spec(TestCatalog());
  spec.servers = 1;
  const BucketPlan plan = MakePlan(spec, tensors);
  EXPECT_NO_THROW(RefuseIdleServers(spec, plan));
  spec.servers = 4;
  EXPECT_THAT(MessageOf<ConfigError>([&] { RefuseIdleServers(spec, plan); }),
              HasSubstr("4 servers for 1 buckets would leave 3 idle"));
}

TEST(TotalSteps, RefusesMoreThanARunMayHave) {
  RunSpec spec(TestCatalog());
  spec.global_batch = 1;
  spec.epochs = kMaxSteps / 100;
  EXPECT_EQ(TotalSteps(spec, 100), kMaxSteps);
  EXPECT_THROW(TotalSteps(spec, 101), ConfigError);
}

}  // namespace
}  // namespace ringside
