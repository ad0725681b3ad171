#include "add_a_collective.inc"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "ringside/ring/strategies/all_reduce_entry.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

class AddACollectiveTest : public testing::TestWithParam<int> {};

/// Integer-valued gradients and a learning rate that is a power of two: every sum is exact.
TEST_P(AddACollectiveTest, TheStrategyOfTheExampleTrainsLikeOneWorker) {
  constexpr std::int64_t kSteps = 3;
  const int workers = GetParam();
  const StrategyEntry entry = AllReduceEntry(StoreCollectiveEntry());
  EXPECT_EQ(entry.name, "through-store");
  const std::vector<TensorSpec> tensors{{"a", 5}, {"b", 1}, {"c", 4}};
  const BucketPlan plan(tensors, {.target_bytes = 16, .first_bytes = 16});
  ASSERT_GT(plan.buckets(), 1);
  InProcessStore store;
  RunRanks(workers, [&](int rank) {
    const World world = TestWorld(rank, workers);
    const CommOptions comm{.timeout = std::chrono::seconds(10)};
    const auto optimizer = Optimizer::Make({}, plan.elements());
    const Schedule schedule({.base = 0.5});
    Recorder recorder(0);
    Timeline timeline;
    const auto strategy =
        entry.make({world, store, comm, *optimizer, schedule, recorder, timeline});
    FlatSpace space(plan.elements());
    std::ranges::fill(space.params(), rank == 0 ? 8.0F : -1.0F);  // rank 0's must win

    strategy->Start(space, plan, {});
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, step));
      std::ranges::fill(space.grads(), static_cast<float>(rank + 1));
      for (int b = 0; b < plan.buckets(); ++b) strategy->Submit(MakeBucket(space, plan, b, step));
    }
    for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, kSteps));
    strategy->Stop();

    const auto sum = static_cast<float>(workers * (workers + 1) / 2);
    for (const float value : space.params()) EXPECT_EQ(value, 8.0F - 0.5F * kSteps * sum);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, AddACollectiveTest, testing::Values(1, 2, 3));

TEST(AddACollectiveRefusalTest, TheExampleCannotEncodeOnEveryHop) {
  EXPECT_NE(StoreCollectiveEntry().why_not_encoded({}), "");
}

}  // namespace
}  // namespace ringside
