#include "ringside/experiments/worker/push_pull_check.h"

#include <span>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/experiments/worker/timed_operation.h"

namespace ringside {
namespace {

/// Fills the gradients with integers that every worker knows, and computes the parameters that must
/// result.
class KnownStep {
 public:
  KnownStep(FlatSpace& space, const World& world, int round)
      : space_(space),
        known_(world.workers, round),
        before_(space.params().begin(), space.params().end()) {
    const std::span<float> grads = space.grads();
    for (std::size_t i = 0; i < grads.size(); ++i) grads[i] = known_.Own(world.rank, i);
  }

  std::int64_t CountMismatches() const {
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      wrong += space_.params()[i] != before_[i] - known_.Sum(i) ? 1 : 0;
    }
    return wrong;
  }

 private:
  FlatSpace& space_;
  const ExactIntegerPattern known_;
  const std::vector<float> before_;
};

}  // namespace

void PushAndPull(Strategy& strategy, const FlatSpace& space, const BucketPlan& plan,
                 std::int64_t step) {
  for (int b = 0; b < plan.buckets(); ++b) strategy.Submit(MakeBucket(space, plan, b, step));
  for (int b = 0; b < plan.buckets(); ++b) strategy.Await(MakeBucket(space, plan, b, step));
}

std::int64_t CountStepMismatches(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                                 const World& world, std::int64_t step, int round) {
  const KnownStep known(space, world, round);
  PushAndPull(strategy, space, plan, step);
  const std::int64_t pulled = known.CountMismatches();
  strategy.Settle();
  return pulled + known.CountMismatches();
}

std::int64_t CountSettledMismatches(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                                    const World& world, std::int64_t step, int round) {
  const KnownStep known(space, world, round);
  PushAndPull(strategy, space, plan, step);
  strategy.Settle();
  return known.CountMismatches();
}

}  // namespace ringside
