#ifndef RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_
#define RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "common/measure/timeline.h"
#include "common/strategy.h"
#include "common/strategy_entry.h"
#include "ring/collective.h"
#include "ring/update_rule.h"

namespace ringside {

/// Sums buckets over all workers and updates parameters as its rule says; without one, it sums
/// gradients and applies the worker's own optimizer. Works on any `Collective`.
///
/// One communication thread sums bucket by bucket, in an order that is the same on all ranks
/// whatever order they are submitted in. `SendOrder::kFifo`: plan order, so that nothing need be
/// said. `kPriority`: before every sum worker 0 names the bucket that is the most urgent among
/// those that wait on it, in one small broadcast, and the others wait for that one. Sums come
/// first, as links must not idle: updates of summed buckets are applied by that thread when no
/// further bucket is submitted, and by the caller while it awaits.
///
/// Thread safety: one caller. It and the communication thread share the table of slots under one
/// mutex; the collective belongs to the caller until `Start` returns and after `Stop` has joined,
/// to the communication thread in between. A failure on either is kept and rethrown by every later
/// call; the collective is destroyed at once, so that the peers learn of it.
class AllReduceStrategy : public Strategy {
 public:
  using Connect = std::function<std::unique_ptr<Collective>()>;

  /// `connect` is called by `Start`; it may wait for the other workers.
  AllReduceStrategy(const StrategyContext& context, Connect connect);
  AllReduceStrategy(const StrategyContext& context, Connect connect,
                    std::unique_ptr<UpdateRule> rule);
  /// Without `Stop`: waits for the bucket under way, at most the operation's timeout.
  ~AllReduceStrategy() override;

  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  void Stop() override;

 private:
  enum class Phase { kIdle, kSubmitted, kSummed, kApplying };
  struct Slot {
    Bucket bucket;
    Timeline::Clock::time_point submitted;
    Phase phase = Phase::kIdle;
    UpdateRule::Moment moment = UpdateRule::Moment::kStep;
  };

  void Agree(FlatSpace& space, const BucketPlan& plan, const StartPoint& from);
  void Enqueue(const Bucket& bucket, UpdateRule::Moment moment);
  void WaitFor(std::size_t index, std::unique_lock<std::mutex>& lock);
  void RethrowFailure() const;
  void Join();

  /// Applies the update of the bucket that was summed first; `lock` is released meanwhile.
  void ApplyOne(std::unique_lock<std::mutex>& lock, int lane);

  // On the communication thread.
  void Communicate();
  void SumInOrder();
  /// Sets `next_` unless it is set, or cannot be told before a further bucket waits; `lock` is
  /// released where ranks have to talk.
  void AgreeOnNext(std::unique_lock<std::mutex>& lock);
  /// What worker 0 names, which is told to the others; `mine` is what this rank would have.
  std::size_t NamedByLeader(int mine);
  /// With its bytes in the record.
  void Counted(const std::function<void()>& operation);
  void SumNext(std::unique_lock<std::mutex>& lock);
  void Sum(const Slot& slot);

  StrategyContext context_;
  Connect connect_;
  std::unique_ptr<UpdateRule> rule_;
  std::unique_ptr<Collective> collective_;
  const FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::int64_t last_step_ = -1;  // that was submitted; the caller's

  // The communication thread's.
  std::optional<std::size_t> next_;  // bucket that all ranks sum next; none: not agreed upon yet
  std::size_t sums_ = 0;             // agreed upon so far

  mutable std::mutex mutex_;
  std::condition_variable submitted_;  // a slot was submitted, or it is time to end
  std::condition_variable advanced_;   // a slot was summed or applied, or the thread has failed
  std::vector<Slot> slots_;            // guarded by mutex_
  // Step and negative index of those submitted, the most urgent first: of the oldest step, and of
  // those the last in plan order, which the next forward pass reads first. Guarded by mutex_.
  std::set<std::pair<std::int64_t, int>> waiting_;
  std::deque<std::size_t> summed_;  // slots in that phase, guarded by mutex_
  std::int64_t advances_ = 0;       // sums and updates so far, guarded by mutex_
  std::exception_ptr failure_;      // guarded by mutex_
  bool ending_ = false;             // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_ALL_REDUCE_STRATEGY_H_
