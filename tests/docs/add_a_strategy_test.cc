#include "add_a_strategy.inc"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

// Integer-valued gradients and a learning rate that is a power of two: every sum is exact.
float Gradient(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>(rank + 1) * static_cast<float>(step + 1) + static_cast<float>(i);
}

float Expected(int workers, std::int64_t steps, std::size_t i) {
  float value = 8.0F;
  for (std::int64_t step = 0; step < steps; ++step) {
    float sum = 0;
    for (int rank = 0; rank < workers; ++rank) sum += Gradient(rank, step, i);
    value -= 0.5F * sum;
  }
  return value;
}

class AddAStrategyTest : public testing::TestWithParam<int> {};

TEST_P(AddAStrategyTest, TheExampleOfThePageTrainsLikeOneWorker) {
  constexpr std::int64_t kSteps = 3;
  const int workers = GetParam();
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
    const auto strategy = MakeStrategy(
        StoreSumEntry(), {world, store, comm, *optimizer, schedule, recorder, timeline});
    FlatSpace space(plan.elements());
    std::ranges::fill(space.params(), rank == 0 ? 8.0F : -1.0F);  // rank 0's must win

    strategy->Start(space, plan, {});
    for (std::int64_t step = 0; step < kSteps; ++step) {
      for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, step));
      for (std::size_t i = 0; i < space.size(); ++i) space.grads()[i] = Gradient(rank, step, i);
      for (int b = 0; b < plan.buckets(); ++b) strategy->Submit(MakeBucket(space, plan, b, step));
    }
    for (int b = 0; b < plan.buckets(); ++b) strategy->Await(MakeBucket(space, plan, b, kSteps));
    strategy->Settle();
    strategy->Stop();

    for (std::size_t i = 0; i < space.size(); ++i) {
      EXPECT_EQ(space.params()[i], Expected(workers, kSteps, i)) << "element " << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, AddAStrategyTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace ringside
