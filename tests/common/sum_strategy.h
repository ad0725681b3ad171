#ifndef RINGSIDE_TESTS_COMMON_SUM_STRATEGY_H_
#define RINGSIDE_TESTS_COMMON_SUM_STRATEGY_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <vector>

#include "ringside/common/strategy/strategy_entry.h"

namespace ringside {

/// Sums each bucket over all ranks of one process, in rank order.
/// Thread-safe. Outlives the strategies that use it.
class SumGroup {
 public:
  explicit SumGroup(int ranks) : ranks_(ranks) {}

  void Contribute(int rank, const Bucket& bucket);
  /// Waits until all ranks have contributed. Throws `CommError` at the deadline.
  std::vector<float> Sum(const Bucket& bucket, const Deadline& deadline);

 private:
  struct Slot {
    std::map<int, std::vector<float>> by_rank;
    std::vector<float> sum;
    std::int64_t summed_step = -1;
  };

  void AddUp(Slot& slot, std::int64_t step);

  const int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int, Slot> slots_;  // by bucket, guarded by mutex_
};

/// The simplest synchronous strategy for threads as ranks. It sums through a `SumGroup`. Every rank
/// runs its own optimizer on the sum.
class SumStrategy : public Strategy {
 public:
  SumStrategy(const StrategyContext& context, SumGroup& group) : context_(context), group_(group) {}

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void ReadOptimizerState(std::span<float> out) override;
  void Stop() override {}

 private:
  StrategyContext context_;
  SumGroup& group_;
  std::vector<std::int64_t> under_way_;  // per bucket, its step or -1
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_SUM_STRATEGY_H_
