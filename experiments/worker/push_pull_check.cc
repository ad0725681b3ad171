#include "experiments/worker/push_pull_check.h"

#include <span>
#include <vector>

#include "common/bucket.h"
#include "experiments/worker/timed_operation.h"

namespace ringside {

void PushAndPull(Strategy& strategy, const FlatSpace& space, const BucketPlan& plan,
                 std::int64_t step) {
  for (int b = 0; b < plan.buckets(); ++b) strategy.Submit(MakeBucket(space, plan, b, step));
  for (int b = 0; b < plan.buckets(); ++b) strategy.Await(MakeBucket(space, plan, b, step));
}

std::int64_t CountWrongOfStep(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                              const World& world, std::int64_t step, int round) {
  const KnownIntegers known(world.workers, round);
  const std::vector<float> before(space.params().begin(), space.params().end());
  const std::span<float> grads = space.grads();
  for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = known.Own(world.rank, i);
  const auto count_wrong = [&] {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      wrong += space.params()[i] != before[i] - known.Sum(i) ? 1 : 0;
    }
    return wrong;
  };
  PushAndPull(strategy, space, plan, step);
  const std::int64_t pulled = count_wrong();
  strategy.Settle();
  return pulled + count_wrong();
}

}  // namespace ringside
