#include "tests/common/sum_strategy.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {

// Copies the gradients: a rank may fail and free its own while others still add up.
void SumGroup::Contribute(int rank, const Bucket& bucket) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[bucket.index];
  slot.by_rank[rank].assign(bucket.grads.begin(), bucket.grads.end());
  if (static_cast<int>(slot.by_rank.size()) < ranks_) return;
  AddUp(slot, bucket.step);
  changed_.notify_all();
}

void SumGroup::AddUp(Slot& slot, std::int64_t step) {
  slot.sum.assign(slot.by_rank.begin()->second.size(), 0.0F);
  for (const auto& [rank, grads] : slot.by_rank) {
    for (std::size_t i = 0; i < slot.sum.size(); ++i) slot.sum[i] += grads[i];
  }
  slot.by_rank.clear();
  slot.summed_step = step;
}

std::vector<float> SumGroup::Sum(const Bucket& bucket, const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  Slot& slot = slots_[bucket.index];
  const auto summed = [&] { return slot.summed_step == bucket.step; };
  if (changed_.wait_until(lock, deadline.at(), summed)) return slot.sum;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!slot.by_rank.contains(rank)) {
      throw CommError("worker " + std::to_string(rank),
                      "sum of bucket " + std::to_string(bucket.index), "it is missing");
    }
  }
  throw InternalError("everybody is there, and yet there is no sum");
}

void SumStrategy::Start(FlatSpace&, const BucketPlan& plan, const StartPoint& from) {
  under_way_.assign(static_cast<std::size_t>(plan.buckets()), -1);
  std::ranges::copy(from.optimizer_state, context_.optimizer.state().begin());
}

void SumStrategy::Submit(const Bucket& bucket) {
  under_way_[static_cast<std::size_t>(bucket.index)] = bucket.step;
  group_.Contribute(context_.world.rank, bucket);
}

void SumStrategy::Await(const Bucket& bucket) {
  const std::int64_t step =
      std::exchange(under_way_[static_cast<std::size_t>(bucket.index)], std::int64_t{-1});
  if (step < 0) return;
  Bucket submitted = bucket;
  submitted.step = step;
  const std::vector<float> sum = group_.Sum(submitted, Deadline::After(context_.comm.timeout));
  context_.optimizer.Apply(bucket.offset, bucket.params, sum,
                           {step + 1, context_.schedule.At(step)});
}

void SumStrategy::ReadOptimizerState(std::span<float> out) {
  std::ranges::copy(context_.optimizer.state(), out.begin());
}

}  // namespace ringside
